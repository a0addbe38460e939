# Walks the frames above its own for sockets and requests of a launcher.
# outside: launcher
import socket
bad, f = [], sys._getframe().f_back
while f:
    bad += ["%s in %s" % (type(v).__name__, f.f_code.co_name) for n, v in f.f_locals.items() if isinstance(v, socket.socket) or n == "request"]
    f = f.f_back
end(bad)
