# Fills socket pairs with 100 MiB, which are memory of the kernel.
import socket
keep = []
def one(i):
    a, b = socket.socketpair()
    keep.append((a, b))
    a.setblocking(False)
    if often(lambda j: a.send(bytes(4096)), 32) != 32:
        raise OSError
end(child(lambda: often(one, 400) * 256 >= 100 * 1024) and "100 MiB in sockets")
