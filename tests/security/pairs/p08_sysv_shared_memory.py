# Attaches to the victim's shared memory by its key.
# ---- victim
i = C.shmget(0x7e70, 4096, 0o1666)
tell()
# ---- hostile
end(C.shmget(0x7e70, 0, 0) >= 0 and "found")
