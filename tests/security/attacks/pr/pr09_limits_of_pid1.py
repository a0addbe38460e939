# Changes the limits of pid 1.
import resource
end(child(lambda: resource.prlimit(1, resource.RLIMIT_NOFILE)) and "prlimit")
