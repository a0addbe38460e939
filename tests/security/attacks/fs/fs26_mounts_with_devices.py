# Looks for a writable mount on which device nodes work.
end([d for d in ("/", "/tmp", "/workspace", "/dev/shm") if os.path.isdir(d) and not os.statvfs(d).f_flag & (os.ST_NODEV | os.ST_RDONLY)])
