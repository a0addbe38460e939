# Shares a namespace with the victim.
# ---- victim
def mine():
    return {n: os.readlink("/proc/self/ns/" + n) for n in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")}
tell(ns=mine())
# ---- hostile
end([n for n, i in told["ns"].items() if os.readlink("/proc/self/ns/" + n) == i])
