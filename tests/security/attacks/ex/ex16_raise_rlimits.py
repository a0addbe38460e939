# Raises a hard limit.
# outside: may hold, the root of some machines has no CAP_SYS_RESOURCE
import resource as r
def up():
    r.setrlimit(r.RLIMIT_NOFILE, (64, 64))
    r.setrlimit(r.RLIMIT_NOFILE, (65, 65))
    return True
end(child(up) and "a hard limit")
