# Tries, from inside of a sandbox (of namespaces or a container), whether each of
# its walls stands: what it holds, and not how it is built.  For who runs
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
import stat
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


def on_host(path, number):
    """What the host has for a number of ours, by /proc/self/uid_map and its like."""
    for line in open(path):
        inside, outside, n = (int(word) for word in line.split())
        if inside <= number < inside + n:
            return outside + number - inside
    return 0


def mounted():
    return [line.split() for line in open("/proc/self/mountinfo")]


def user():
    """Not root, nobody whom the host knows, and no other one to become."""
    users, groups = set(os.getresuid()), set(os.getresgid()) | set(os.getgroups())
    outside = [on_host("/proc/self/uid_map", n) for n in users] + [on_host("/proc/self/gid_map", n) for n in groups]
    other = [n for n in (0, 1, 33, 1000, 65534, max(users) + 1) if n not in users]
    return (0 not in users | groups and min(outside) >= 65536
            and all(refused(os.setuid, n) and refused(os.setgid, n) for n in other)
            and refused(os.setgroups, [0]))


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


def is_device(st, minors):
    return stat.S_ISCHR(st.st_mode) and os.major(st.st_rdev) == 1 and os.minor(st.st_rdev) in minors


def says_nothing(path):
    """It is not there, or empty: a folder, or /dev/null, by which an engine of containers covers it."""
    try:
        st = os.stat(path)
    except OSError:
        return True
    if stat.S_ISDIR(st.st_mode):
        return not os.access(path, os.R_OK) or not os.listdir(path)
    return is_device(st, {3}) or not (os.access(path, os.R_OK) or os.access(path, os.W_OK))


def host():
    """Of /proc its own processes alone; of the host's disks at most what an engine wrote for this container."""
    own = {"self", "thread-self", "mounts", "net"}
    seen = [p for p in os.listdir("/proc") if not p.isdigit() and p not in own and not says_nothing("/proc/" + p)]
    disks = [m for m in mounted() if not m[2].startswith("0:")
             and m[4] not in ("/etc/hostname", "/etc/hosts", "/etc/resolv.conf")]
    return (not seen and not disks and says_nothing("/sys") and not os.path.exists("/run/docker.sock")
            and not os.access("/etc/shadow", os.R_OK))


def devices():
    """null, zero, full, random, urandom, whatever their names; folders and links lead to nothing else."""
    nodes = [os.lstat(os.path.join(folder, name)) for folder, _, names in os.walk("/dev") for name in names]
    return all(stat.S_ISREG(st.st_mode) or stat.S_ISLNK(st.st_mode) or is_device(st, {3, 5, 7, 8, 9})
               for st in nodes) and any(is_device(st, {3}) for st in nodes)


def others():
    """Pid 1, the interpreter, what it has started: a handful."""
    return len([p for p in os.listdir("/proc") if p.isdigit()]) < 16


def disk():
    sizes = {m[4]: m[-1] for m in mounted() if "size=" in m[-1]}
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
