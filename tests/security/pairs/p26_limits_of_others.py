# Changes priority, limits and cores of the victim.
# ---- victim
tell(pid=os.getpid(), ns=os.readlink("/proc/self/ns/pid"))
# ---- hostile
import resource
end([n for n, f in enumerate((lambda: os.setpriority(0, told["pid"], 5), lambda: resource.prlimit(told["pid"], resource.RLIMIT_CORE, (0, 0)) and None, lambda: os.sched_setaffinity(told["pid"], {0, 1}))) if told["ns"] == os.readlink("/proc/self/ns/pid") and can(f)])
