# Attaches a filter program to a socket.
import socket, struct
s = socket.socket(socket.AF_UNIX)
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0xffff))
end(can(s.setsockopt, 1, 26, struct.pack("HxxxxxxQ", 1, ctypes.addressof(code))) and "SO_ATTACH_FILTER")
