# Moves pages between files and pipes without copying.
r, w = os.pipe()
f = os.open("/etc/passwd", 0)
g = os.open("/tmp/.v%d" % os.getpid(), os.O_CREAT | os.O_RDWR)
os.unlink("/tmp/.v%d" % os.getpid())
b = ctypes.create_string_buffer(16)
v = (ctypes.c_size_t * 2)(ctypes.addressof(b), 16)
end([n for n, a in (("sendfile", (40, w, f, None, 8)), ("vmsplice", (278, w, v, 1, 0)), ("copy_file_range", (326, f, None, g, None, 8, 0)), ("tee", (276, r, os.pipe()[1], 8, 0))) if call(*a)])
