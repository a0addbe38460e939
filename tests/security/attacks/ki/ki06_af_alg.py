# Makes a socket to the kernel's cryptography, which Copy Fail needed.
# outside: may hold, many kernels have no AF_ALG
import socket
end(can(lambda: socket.socket(38, 5, 0).close()) and "AF_ALG")
