# Put before each program: calls by number, a child of its own, the last line.
import ctypes, errno, os, sys

C = ctypes.CDLL(None, use_errno=True)
MIB = 1 << 20


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
    if isinstance(r, int) and not isinstance(r, bool) and 2 < r < 1024:
        os.close(r)
    return True


def status(name, of="self"):
    for line in open("/proc/%s/status" % of):
        if line.startswith(name + ":"):
            return line.split(":")[1].strip()


def error(nr, *args):
    """The error number of a call, or 0."""
    return 0 if call(nr, *args) else ctypes.get_errno()


def often(f, bound):
    """How often f(i) works, up to a bound."""
    for i in range(bound):
        try:
            f(i)
        except (OSError, MemoryError, RuntimeError):
            return i
    return bound


def touch(mib):
    """Memory that is really there."""
    b = bytearray(mib * MIB)
    b[::4096] = b"x" * (len(b) // 4096)
    return b


def end(bad):
    print("BROKE: %s" % (bad,) if bad else "HELD")
