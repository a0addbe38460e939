# Makes a socket of every family but AF_UNIX.
import socket
bad = []
for f in range(2, 46):
    for t in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_STREAM):
        if can(lambda: socket.socket(f, t).close()):
            bad.append(f)
            break
end(bad)
