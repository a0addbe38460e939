# Kills every process but its own.
# ---- victim
import subprocess
p = subprocess.Popen(["/bin/sleep", "20"])
tell(pid=p.pid)
# ---- hostile
for n in range(2, 4000):
    if n not in (os.getpid(), os.getppid()) and status_of(n, "Name") != "python3":
        can(os.kill, n, 9)
tell()
# ---- victim
import time
time.sleep(0.05)
end(p.poll() is not None and "the child is dead")
