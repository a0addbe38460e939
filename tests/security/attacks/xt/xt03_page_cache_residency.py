# Asks by mincore what of a shared file others have used.
import mmap
f = os.open(os.path.realpath("/bin/bash"), 0)
m = mmap.mmap(f, 4096, prot=1, flags=2)
b = ctypes.create_string_buffer(8)
C.mmap.restype = ctypes.c_void_p
p = C.mmap(None, ctypes.c_size_t(4096), 1, 2, f, ctypes.c_long(0))
end(call(27, p, 4096, b) and "mincore")
