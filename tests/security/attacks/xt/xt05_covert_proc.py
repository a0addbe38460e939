# Reads counters of the whole host in /proc.
def says(path):
    try:
        return len(open(path).read()) > 0
    except OSError:
        return False


end([p for p in ("stat", "loadavg", "meminfo", "uptime", "diskstats") if says("/proc/" + p)])
