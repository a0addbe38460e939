# Opens the files of /proc for writing that lead to root.
end([p for p in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches") if can(os.open, p, os.O_WRONLY)])
