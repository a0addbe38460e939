# Makes an internet socket.
import socket
end(can(lambda: socket.socket(2, 2).close()) and "an internet socket")
