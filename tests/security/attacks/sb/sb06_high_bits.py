# Hides a socket's family behind bits above the 32nd.
import socket
end(child(lambda: call(41, 40 | 1 << 32, 1, 0)) and "AF_VSOCK with junk above")
