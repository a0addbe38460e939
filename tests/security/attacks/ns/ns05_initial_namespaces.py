# Compares its namespaces with the numbers of the host's.
# outside: host
first = {"user": 4026531837, "uts": 4026531838, "ipc": 4026531839, "pid": 4026531836, "cgroup": 4026531835}
bad = []
for n, i in first.items():
    try:
        if os.stat("/proc/self/ns/" + n).st_ino == i:
            bad.append(n)
    except OSError:
        pass
end(bad)
