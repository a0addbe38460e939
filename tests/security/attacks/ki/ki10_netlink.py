# Makes netlink sockets.
import socket
end([n for n in (0, 4, 9, 12, 15) if can(lambda: socket.socket(16, socket.SOCK_RAW, n).close())])
