# Allows itself a core dump, or gives up the limit with which no program of the host is started for it.
import resource
def set(n): return child(lambda: resource.setrlimit(resource.RLIMIT_CORE, (n,) * 2) is None)
end([n for n in (0, 1 << 20) if set(n)])
