# Looks for a terminal.
def terminal(path):
    if os.path.isdir(path):
        return os.listdir(path)
    return os.path.exists(path) and os.major(os.stat(path).st_rdev) != 1


end([p for p in ("/dev/tty", "/dev/console", "/dev/ptmx", "/dev/pts") if terminal(p)] or any(map(os.isatty, (0, 1, 2))))
