# Sets the host name.
import socket
end(can(socket.sethostname, socket.gethostname()) and "hostname")
