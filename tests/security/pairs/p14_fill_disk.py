# Fills /tmp and /dev/shm.
# ---- hostile
def fill(d):
    with open(d + "/fill", "wb", buffering=0) as f:
        while f.write(bytes(MIB)) == MIB:
            pass
can(fill, "/tmp")
can(fill, "/dev/shm")
tell()
# ---- victim
end([d for d in ("/tmp", "/dev/shm") if not can(lambda: open(d + "/mine", "wb", buffering=0).write(bytes(MIB)) == MIB or os.open("/none", 0))])
