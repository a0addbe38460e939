# Makes a file of 1 TiB without content.
p = "/tmp/.s%d" % os.getpid()
f = os.open(p, os.O_CREAT | os.O_RDWR, 0o600)
os.unlink(p)
end(can(os.ftruncate, f, 1 << 40) and "1 TiB")
