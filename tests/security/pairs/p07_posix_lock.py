# Sees the victim's POSIX lock of a file that all have.
# ---- victim
import fcntl
f = os.open(os.path.realpath("/bin/sh"), 0)
fcntl.lockf(f, fcntl.LOCK_SH)
tell()
# ---- hostile
import fcntl, struct
f = os.open(os.path.realpath("/bin/sh"), 0)
r = struct.unpack("hhqqi", fcntl.fcntl(f, fcntl.F_GETLK, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))[:28])
end(r[0] != fcntl.F_UNLCK and "locked")
