# Reads the blocks that the launcher was executed with.
# outside: launcher
C.prctl(4, 1, 0, 0, 0)
def words(p):
    try:
        return open("/proc/self/" + p).read()
    except OSError:
        return ""
end([p for p in ("environ", "cmdline") if any(w in words(p) for w in ("launcher", "LAUNCHER", "/"))])
