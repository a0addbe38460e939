# Looks for processes that are not its own.
# outside: host
mine = {1, os.getpid(), os.getppid()}


def foreign(pid):
    try:
        return can(os.kill, pid, 0) and status("PPid", pid) not in map(str, mine)
    except (FileNotFoundError, ProcessLookupError):     # ended since
        return False


bad = [pid for pid in range(2, 32768) if pid not in mine and foreign(pid)]
end(bad[:5] or [n for n in os.listdir("/proc") if n.isdigit() and int(n) not in mine])
