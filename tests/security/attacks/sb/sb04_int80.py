# Makes a 32-bit call from 64-bit code.
import mmap
def go(nr):
    m = mmap.mmap(-1, 4096, prot=7)
    m.write(b"\x53\xb8" + nr.to_bytes(4, "little") + b"\x31\xdb\xcd\x80\x5b\xc3")
    f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
    return f() > 0
end(child(lambda: go(20)) and "a 32-bit call")
