# Locks 64 MiB in memory.
def lock():
    import mmap
    m = mmap.mmap(-1, 64 << 20)
    return C.mlock(ctypes.byref(ctypes.c_char.from_buffer(m)), ctypes.c_size_t(64 << 20)) == 0
end(child(lock) and "64 MiB locked")
