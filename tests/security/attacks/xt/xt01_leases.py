# Takes a lease of a shared file, and a notice of who opens it.
import fcntl
f = os.open("/etc/passwd", 0)
d = os.open("/etc", 0)
end([n for n, a in ((1024, (f, 1024, 0)), (1026, (d, 1026, 1))) if can(fcntl.fcntl, *a)])
