# Allows itself a core dump.
import resource
end(child(lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 20,) * 2) is None) and "a core dump")
