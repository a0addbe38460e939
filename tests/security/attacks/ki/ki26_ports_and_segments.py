# Reaches the ports of the processor, and its segment table.
b = ctypes.create_string_buffer(64)
end([n for n, a in (("iopl", (172, 0)), ("ioperm", (173, 0, 1, 0)), ("modify_ldt", (154, 0, b, 64))) if child(lambda: call(*a))])
