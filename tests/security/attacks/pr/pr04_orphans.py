# Leaves 20 orphans, which pid 1 has to bury.
import time
for i in range(20):
    if os.fork() == 0:
        if os.fork() == 0:
            time.sleep(0.05)
        os._exit(0)
    os.wait()
time.sleep(0.5)
dead = 0
for n in os.listdir("/proc"):
    try:
        dead += n.isdigit() and status("State", n)[0] == "Z"
    except OSError:
        pass
end(dead > 10 and "%d zombies" % dead)
