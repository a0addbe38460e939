end(os.path.exists("/proc/net/tcp") and "/proc/net")
