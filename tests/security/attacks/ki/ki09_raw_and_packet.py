# Makes raw and packet sockets.
import socket
end([f for f, p in ((2, 1), (10, 58), (17, 3)) if can(lambda: socket.socket(f, socket.SOCK_RAW, p).close())])
