# Looks among all objects for open sockets and files of a launcher.
# outside: launcher
import gc, io, socket
end([repr(o)[:60] for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0 or isinstance(o, io.FileIO) and not o.closed and o.fileno() > 2])
