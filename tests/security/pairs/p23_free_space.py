# Reads from the size of free space what the victim writes.
# ---- hostile
def free():
    return [os.statvfs(d).f_bfree for d in ("/", "/usr", "/tmp", "/dev/shm", "/dev")]
before = free()
tell()
# ---- victim
for d in ("/tmp", "/dev/shm"):
    open(d + "/mine", "wb").write(bytes(4 * MIB))
tell()
# ---- hostile
end(free() != before and "noticed")
