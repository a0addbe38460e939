# Parks as many descriptors in sockets as its user may have.
# ---- hostile
import array, socket
a, b = socket.socketpair()
a.setblocking(False)
often(lambda i: a.sendmsg([b"x"], [(1, 1, array.array("i", [0] * 100))]), 40)
tell()
# ---- victim
import array, socket
a, b = socket.socketpair()
end(not can(lambda: a.sendmsg([b"x"], [(1, 1, array.array("i", [0]))]) and None) and "none left")
