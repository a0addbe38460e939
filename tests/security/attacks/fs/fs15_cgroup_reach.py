# Looks for mounted cgroups, and for the names of those that it is in.
at = [l.split()[1] for l in open("/proc/self/mounts") if l.split()[2].startswith("cgroup")]
bad = [d for d in at if os.path.exists(d + "/cgroup.procs")]
end(bad + [l for l in open("/proc/self/cgroup") if not l.endswith(":/\n")])
