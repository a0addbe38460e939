# Looks for a terminal.
end([p for p in ("/dev/tty", "/dev/console", "/dev/ptmx", "/dev/pts") if os.path.exists(p)] or any(map(os.isatty, (0, 1, 2))))
