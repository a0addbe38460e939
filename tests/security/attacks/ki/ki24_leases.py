# Takes a lease, a directory notice, and another signal for them.
import fcntl
p = "/tmp/.e%d" % os.getpid()
f = os.open(p, os.O_CREAT | os.O_RDONLY, 0o600)
os.unlink(p)
end([n for n, a in ((1024, 0), (1026, 2), (10, 40)) if can(fcntl.fcntl, f if n != 1026 else os.open("/tmp", 0), n, a)])
