# Tries, from inside of a sandbox, whether each of its walls stands.  For who runs
# the service, after an installation, an upgrade of the kernel, or before each start:
#
#     retortctl run walls.py --profile default
#
# A line for each wall; the exit code is 0 if all of them stand.

import ctypes
import os
import resource
import signal
import socket
import subprocess
import time

C = ctypes.CDLL(None, use_errno=True)
NEWUSER = 0x10000000
TRACEME = 0


def refused(f, *args):
    """Does this end in an error of the system, in a process of its own?"""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(1 if f(*args) != -1 else 0)
        except OSError:
            os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def status(name):
    for line in open("/proc/self/status"):
        if line.startswith(name + ":"):
            return line.split()[1]


def user():
    inside, outside, n = open("/proc/self/uid_map").read().split()
    return os.getuid() != 0 and n == "1" and int(outside) >= 65536


def capabilities():
    return all(int(status("Cap" + s), 16) == 0 for s in ("Inh", "Prm", "Eff", "Bnd", "Amb"))


def namespaces():
    return refused(C.unshare, NEWUSER)


def mounts():
    return refused(C.mount, b"x", b"/tmp", b"tmpfs", 0, None)


def tracing():
    return refused(C.ptrace, TRACEME, 0, 0, 0)


def network():
    return refused(socket.socket, socket.AF_INET) and refused(socket.socket, socket.AF_NETLINK)


def image():
    return all(os.statvfs(p).f_flag & os.ST_RDONLY for p in ("/", "/usr", "/etc"))


def host():
    seen = [p for p in ("/proc/sys", "/proc/kcore", "/sys/kernel", "/run/docker.sock") if os.path.exists(p)]
    return not seen and not os.access("/etc/shadow", os.R_OK)


def devices():
    return set(os.listdir("/dev")) <= {"null", "zero", "full", "random", "urandom", "shm", "fd",
                                       "stdin", "stdout", "stderr"}


def others():
    """Pid 1, the interpreter, what it has started: a handful."""
    return len([p for p in os.listdir("/proc") if p.isdigit()]) < 16


def disk():
    mounts = [line.split() for line in open("/proc/self/mountinfo")]
    sizes = {m[4]: m[-1] for m in mounts if "size=" in m[-1]}
    return {"/workspace", "/tmp", "/dev/shm"} <= set(sizes)


def limits():
    hard = {n: resource.getrlimit(n)[1] for n in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE,
                                                  resource.RLIMIT_MEMLOCK)}
    return (all(v != resource.RLIM_INFINITY for v in hard.values())
            and resource.getrlimit(resource.RLIMIT_CORE) == (1, 1))


def processes():
    """A bound, wherever it is; each child ends with us at the latest."""
    pids, bound = [], False
    try:
        for i in range(1200):
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            pids.append(pid)
    except OSError:
        bound = True
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return bound


def landlock():
    """A file of its own that its mode would let this write to."""
    return subprocess.run(["/bin/sh", "-c", "echo x > /proc/self/comm"],
                          stderr=subprocess.DEVNULL).returncode != 0


WALLS = {
    "a user of its own": user,
    "no capability": capabilities,
    "none to be gained": lambda: status("NoNewPrivs") == "1",
    "a filter of system calls": lambda: status("Seccomp") == "2",
    "no further namespace": namespaces,
    "no mount": mounts,
    "no tracing": tracing,
    "no network": network,
    "an image that cannot be written to": image,
    "nothing of the host": host,
    "five devices": devices,
    "no process of others": others,
    "a bound for files": disk,
    "limits, and no core for the host": limits,
    "a bound for processes": processes,
    "Landlock": landlock,
}

missing = 0

for name, stands in WALLS.items():
    try:
        good = stands()
    except Exception as e:
        good, name = False, "%s (%s)" % (name, e)
    missing += not good
    print("%-8s %s" % ("stands" if good else "MISSING", name), flush=True)

if missing:
    raise SystemExit(1)
