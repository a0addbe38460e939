# Makes a bpf map.
b = ctypes.create_string_buffer((1).to_bytes(4, "little") + (4).to_bytes(4, "little") * 2 + (1).to_bytes(4, "little") + bytes(112))
b[0:4] = (2).to_bytes(4, "little")
end(child(lambda: call(321, 0, b, 72)) and "a bpf map")
