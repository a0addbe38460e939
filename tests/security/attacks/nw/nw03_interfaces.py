# Lists the network's interfaces.
import socket
def names():
    try:
        return socket.if_nameindex()
    except OSError:
        return []
end(names())
