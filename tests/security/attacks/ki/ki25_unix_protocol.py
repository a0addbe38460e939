# Asks for a local socket of another protocol.
import socket
end(can(lambda: socket.socket(1, 1, 1).close()) and "protocol 1")
