# Takes 400 MiB in four processes, past every limit of one process.
import time
pids = []
for i in range(4):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        b = touch(100)
        os.write(w, b"x")
        time.sleep(8)
        os._exit(0)
    os.close(w)
    pids.append(pid)
    os.read(r, 1)
dead = [p for p in pids if os.waitpid(p, os.WNOHANG)[0]]
for p in pids:
    if p not in dead:
        os.kill(p, 9)
        os.waitpid(p, 0)
end(not dead and "400 MiB in four processes")
