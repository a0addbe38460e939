# Makes a user namespace by clone3, whose flags a filter cannot see.
b = ctypes.create_string_buffer(88)
b[0:8] = (0x10000000).to_bytes(8, "little")
b[32:40] = (17).to_bytes(8, "little")
def go():
    r = C.syscall(ctypes.c_long(435), b, ctypes.c_long(88))
    if r == 0:
        os._exit(0)
    return r > 0
end(child(go) and "clone3")
