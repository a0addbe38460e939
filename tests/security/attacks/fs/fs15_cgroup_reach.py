# Looks for mounted cgroups, and for the names of those that it is in.
bad = [l.split()[1] for l in open("/proc/self/mounts") if l.split()[2].startswith("cgroup")]
end(bad + [l for l in open("/proc/self/cgroup") if not l.endswith(":/\n")])
