# Reads who listens, in /proc/net.
end(os.path.exists("/proc/net/tcp") and "/proc/net")
