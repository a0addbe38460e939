# Reads what containers mask in /proc.
end([p for p in ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/kallsyms", "/proc/interrupts") if can(os.open, p, 0)])
