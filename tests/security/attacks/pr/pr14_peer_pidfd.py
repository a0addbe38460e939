# Asks the sockets that it was given for a descriptor of the process that made them, to signal it or to take its own.
# outside: launcher
import socket
bad = []
for f in range(3, 64):
    try:
        peer = socket.socket(fileno=os.dup(f)).getsockopt(1, 77)
    except OSError:
        continue
    bad += [nr for nr, args in ((424, (peer, 0, 0, 0)), (438, (peer, 0, 0)), (308, (peer, 0x40000000))) if call(nr, *args)]
    bad += [line for line in open("/proc/self/fdinfo/%d" % peer) if line.startswith("Pid:") and int(line[4:]) > 0]
end(bad)
