# Put before each program: calls by number, a child of its own, the last line.
import ctypes, errno, os, sys

C = ctypes.CDLL(None, use_errno=True)


def call(nr, *args):
    ctypes.set_errno(0)
    r = C.syscall(ctypes.c_long(nr), *[ctypes.c_long(a) if isinstance(a, int)
                                       else a for a in args])
    return r >= 0


def child(f):
    """Does f() return something true, in a process that may die of it?"""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if f() else 1)
        except BaseException:
            os._exit(2)
    return os.waitpid(pid, 0)[1] == 0


def can(f, *args):
    try:
        r = f(*args)
    except OSError:
        return False
    if isinstance(r, int) and not isinstance(r, bool) and r > 2:
        os.close(r)
    return True


def status(name, of="self"):
    for line in open("/proc/%s/status" % of):
        if line.startswith(name + ":"):
            return line.split(":")[1].strip()


def end(bad):
    print("BROKE: %s" % (bad,) if bad else "HELD")

