# Gives a name to a socket that it was given: it would be one of the network namespace in which that was made.
# outside: launcher
import socket
def named(f, name):
    s = socket.socket(fileno=os.dup(f))
    was = s.getsockname()
    return can(s.bind, name) and s.getsockname() != was
bad = []
for f in range(3, 64):
    try:
        bad += [f for name in (b"\0retort-attack%d" % f, b"") if named(f, name)]
    except OSError:
        pass
end(bad)
