# Listens on TCP and UDP.
import socket
bad = []
for f, t in ((2, 1), (2, 2), (10, 1), (10, 2)):
    def go():
        with socket.socket(f, t) as s:
            s.bind(("", 0))
    if can(go):
        bad.append((f, t))
end(bad)
