# Looks for a mount on which set-uid programs work.
end([d for d in ("/", "/tmp", "/workspace", "/dev/shm", "/proc") if os.path.isdir(d) and not os.statvfs(d).f_flag & os.ST_NOSUID])
