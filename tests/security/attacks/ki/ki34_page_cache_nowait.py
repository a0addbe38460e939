# Reads a shared file only if others have brought it into memory.
end(can(lambda: os.preadv(os.open(os.path.realpath("/bin/sh"), 0), [bytearray(64)], 0, os.RWF_NOWAIT) and None) and "RWF_NOWAIT")
