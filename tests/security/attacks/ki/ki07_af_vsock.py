# Makes a socket to the hypervisor.
import socket
end(can(lambda: socket.socket(40, socket.SOCK_STREAM).close()) and "AF_VSOCK")
