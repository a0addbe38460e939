# Looks for processes that are not its own.
# outside: host
mine = {1, os.getpid(), os.getppid()}
bad = []
for pid in range(2, 32768):
    if pid not in mine and can(os.kill, pid, 0) and status("PPid", pid) not in map(str, mine):
        bad.append(pid)
end(bad[:5] or [n for n in os.listdir("/proc") if n.isdigit() and int(n) not in mine])
