# A program that it executes asks to be spared when memory runs out.
import subprocess
r = subprocess.run(["/bin/sh", "-c", "echo 0 > /proc/self/oom_score_adj"], stderr=subprocess.DEVNULL)
end(r.returncode == 0 and "spared")
