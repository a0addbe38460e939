# Asks a namespace for its owner's and its parent's.
import fcntl
bad = []
for n in ("net", "mnt", "uts", "ipc"):
    def go():
        return fcntl.ioctl(os.open("/proc/self/ns/" + n, 0), 0xb701)
    if can(go):
        bad.append(n)
end(bad)
