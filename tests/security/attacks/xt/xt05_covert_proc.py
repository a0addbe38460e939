# Reads counters of the whole host in /proc.
end([p for p in ("stat", "loadavg", "meminfo", "uptime", "diskstats") if os.path.exists("/proc/" + p)])
