# Opens memory, environment and descriptors of the victim.
# ---- victim
tell(pid=os.getpid(), ns=os.readlink("/proc/self/ns/pid"))
# ---- hostile
end([n for n in ("mem", "environ", "maps", "fd/0", "cwd", "exe") if told["ns"] == os.readlink("/proc/self/ns/pid") and can(os.open, "/proc/%d/%s" % (told["pid"], n), 0)])
