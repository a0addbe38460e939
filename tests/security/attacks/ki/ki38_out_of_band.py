# Sends a byte out of band to a local socket, and takes it.
# outside: may hold, kernels before 5.15 have no such bytes
import socket
def sent(**o):
    a, b = socket.socketpair()
    return o["by"](a) and b.recv(1, socket.MSG_OOB)
ways = (lambda a: a.send(b"x", socket.MSG_OOB), lambda a: a.sendmsg([b"x"], [], socket.MSG_OOB))
end([i for i, way in enumerate(ways) if child(lambda: sent(by=way))])
