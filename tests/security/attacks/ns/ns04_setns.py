# Enters a namespace.
bad = []
for n in ("mnt", "net", "ipc", "uts"):
    def go():
        return C.setns(os.open("/proc/self/ns/" + n, 0), 0) == 0
    if child(go):
        bad.append(n)
end(bad)
