# Connects to the victim's abstract socket.
# ---- victim
import socket
s = socket.socket(socket.AF_UNIX)
s.bind("\0pair-%d" % os.getpid())
s.listen()
tell(name="\0pair-%d" % os.getpid())
# ---- hostile
import socket
end(can(lambda: socket.socket(socket.AF_UNIX).connect(told["name"])) and "connected")
