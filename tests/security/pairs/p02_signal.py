# Kills every process but its own.
# ---- victim
import subprocess
p = subprocess.Popen(["/bin/sleep", "20"])
began(p)
tell(pid=p.pid)
# ---- hostile
for n in range(2, 4000):
    if n not in (os.getpid(), os.getppid()) and status_of(n, "Name") != "python3":
        can(os.kill, n, 9)
tell()
# ---- victim
try:
    p.wait(timeout=0.5)
    end("the child is dead")
except subprocess.TimeoutExpired:
    end(False)
