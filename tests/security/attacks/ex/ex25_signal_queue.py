# Queues 2000 signals to itself.
import signal
def fill():
    signal.pthread_sigmask(signal.SIG_BLOCK, [40])
    def one(i):
        if C.sigqueue(os.getpid(), 40, None):
            raise OSError
    return often(one, 2000) == 2000
end(child(fill) and "2000 signals")
