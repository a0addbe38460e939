# Sees the victim's flock of a file that all have.
# ---- victim
import fcntl
f = os.open(os.path.realpath("/bin/sh"), 0)
fcntl.flock(f, fcntl.LOCK_EX)
tell()
# ---- hostile
import fcntl
end(not can(fcntl.flock, os.open(os.path.realpath("/bin/sh"), 0), fcntl.LOCK_EX | fcntl.LOCK_NB) and "locked")
