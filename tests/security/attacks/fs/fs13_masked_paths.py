# Reads what containers mask in /proc.
def says(path):
    try:
        return len(open(path, "rb", 0).read(16)) > 0
    except OSError:
        return False


end([p for p in ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/kallsyms", "/proc/interrupts") if says(p)])
