# Four processes take more than the one core that there is.
# outside: may hold, a busy machine gives it no more either
import time
def burn():
    t = time.time()
    while time.time() - t < 1:
        pass
    return True
t = time.time()
pids = []
for i in range(4):
    pids.append(os.fork())
    if pids[-1] == 0:
        burn()
        os._exit(0)
cpu = sum(os.wait4(p, 0)[2].ru_utime for p in pids)
end(cpu / (time.time() - t) > 1.3 and "%.1f cores" % (cpu / (time.time() - t)))
