# Tells something by a lock of a device node.
# known: a channel between two that both want one
# ---- victim
import fcntl
f = os.open("/dev/zero", 0)
fcntl.flock(f, fcntl.LOCK_EX)
tell()
# ---- hostile
import fcntl
end(not can(fcntl.flock, os.open("/dev/zero", 0), fcntl.LOCK_EX | fcntl.LOCK_NB) and "heard")
