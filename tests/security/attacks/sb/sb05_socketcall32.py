# Makes sockets by the 32-bit call that hides the family behind a pointer.
# outside: may hold, some kernels have no 32-bit calls
import mmap, struct
C.mmap.restype = ctypes.c_void_p
def go(family):
    p = C.mmap(None, ctypes.c_size_t(4096), 7, 0x62, -1, ctypes.c_long(0))
    code = b"\x53\xb8\x66\0\0\0\xbb\1\0\0\0\xb9" + struct.pack("I", p + 512) + b"\xcd\x80\x5b\xc3"
    ctypes.memmove(p, code, len(code))
    ctypes.memmove(p + 512, struct.pack("III", family, 3 if family == 16 else 1, 0), 12)
    return ctypes.CFUNCTYPE(ctypes.c_int)(p)() >= 0
end([f for f in (16, 40, 2) if child(lambda: go(f))])
