# Holds 100 children at once.
import time
pids = []
def one(i):
    pid = os.fork()
    if pid == 0:
        time.sleep(8)
        os._exit(0)
    pids.append(pid)
n = often(one, 100)
for pid in pids:
    os.kill(pid, 9)
    os.waitpid(pid, 0)
end(n == 100 and "100 children")
