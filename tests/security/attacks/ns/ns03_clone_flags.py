# Makes a user namespace by clone, also with bits above the 32nd set.
def go(high):
    r = C.syscall(ctypes.c_long(56), ctypes.c_ulong(0x10000011 | high << 32), None, None, None, None)
    if r == 0:
        os._exit(0)
    return r > 0
end([h for h in (0, 1, 0x80000000) if child(lambda: go(h))])
