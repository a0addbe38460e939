# Types into a terminal, also by a command with bits above the 32nd set.
def push(bits):
    m, s = os.openpty()
    return C.ioctl(s, ctypes.c_ulong(0x5412 | bits), b"x") == 0
end([hex(b) for b in (0, 1 << 32) if child(lambda: push(b))])
