# Reads where pid 1 is and what it has mapped.
end([p for p in ("maps", "smaps", "stack", "syscall", "io", "pagemap", "exe") if can(lambda: os.close(os.open("/proc/1/" + p, 0)) or os.readlink("/proc/1/exe"))])
