# Fills each directory that it can write to, by up to 64 MiB in files without a name.
import tempfile
bad = []
for d in ("/workspace", "/tmp", "/var/tmp", "/dev/shm"):
    held = []
    def one(i):
        f = tempfile.TemporaryFile(dir=d, buffering=0)
        held.append(f)
        if f.write(bytes(8 * MIB)) != 8 * MIB:
            raise OSError
    if os.access(d, os.W_OK) and often(one, 8) == 8:
        bad.append(d)
end(bad)
