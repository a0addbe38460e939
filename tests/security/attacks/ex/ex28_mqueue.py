# Makes a POSIX message queue.
n = b"/r%d" % os.getpid()
q = C.mq_open(n, os.O_CREAT | os.O_RDWR, 0o600, None)
if q >= 0:
    C.mq_unlink(n)
end(q >= 0 and "a queue")
