# Makes internet sockets of MPTCP, UDP-Lite, SCTP and ping.
import socket
end([p for t, p in ((1, 262), (2, 136), (1, 132), (2, 1), (3, 255)) if can(lambda: socket.socket(2, t, p).close())])
