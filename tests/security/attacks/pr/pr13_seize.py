# Traces another process of its own.
import time
def go():
    pid = os.fork()
    if pid == 0:
        time.sleep(3)
        os._exit(0)
    got = C.ptrace(0x4206, pid, 0, 0) == 0
    os.kill(pid, 9)
    return got
end(child(go) and "PTRACE_SEIZE")
