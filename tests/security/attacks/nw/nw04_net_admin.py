# Switches an interface on.
import fcntl, socket, struct
def up():
    with socket.socket(2, 2) as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 1))
end(can(up) and "lo")
