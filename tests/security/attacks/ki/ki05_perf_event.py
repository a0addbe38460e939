# Counts events of the processor.
b = ctypes.create_string_buffer(b"\1\0\0\0\x70\0\0\0" + bytes(104))
end(child(lambda: call(298, b, 0, -1, -1, 0)) and "perf_event_open")
