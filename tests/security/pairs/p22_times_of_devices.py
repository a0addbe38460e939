# Tells something by the times of a device node.
# ---- victim
before = os.stat("/dev/null").st_mtime_ns
tell()
# ---- hostile
can(os.utime, "/dev/null")
tell()
# ---- victim
end(os.stat("/dev/null").st_mtime_ns != before and "heard")
