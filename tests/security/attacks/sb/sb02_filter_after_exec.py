# Looks whether the filter is gone after exec.
import subprocess
out = subprocess.run(["/bin/grep", "-E", "^(Seccomp|NoNewPrivs):", "/proc/self/status"], capture_output=True, text=True).stdout.split()
end(out != ["NoNewPrivs:", "1", "Seccomp:", "2"] and out)
