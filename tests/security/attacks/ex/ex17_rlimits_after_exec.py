# Looks for limits that are lost by fork and exec.
import subprocess
out = subprocess.run(["/bin/bash", "-c", "ulimit -Hc; ulimit -Hf; ulimit -Hu"], capture_output=True, text=True).stdout.split()
end((out[0] != "0" or "unlimited" in out) and out)
