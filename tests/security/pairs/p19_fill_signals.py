# Takes all the queued signals that its user may have.
# ---- hostile
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
def one(i):
    if C.sigqueue(os.getpid(), 40, None):
        raise OSError
often(one, 1000)
tell()
# ---- victim
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [41])
end(C.sigqueue(os.getpid(), 41, None) != 0 and C.sigqueue(os.getpid(), 41, None) != 0 and "none left")
