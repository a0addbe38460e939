# Connects to the victim's socket in /tmp.
# ---- victim
import socket
s = socket.socket(socket.AF_UNIX)
s.bind("/tmp/pair.sock")
s.listen()
tell()
# ---- hostile
import socket
end(can(lambda: socket.socket(socket.AF_UNIX).connect("/tmp/pair.sock")) and "connected")
