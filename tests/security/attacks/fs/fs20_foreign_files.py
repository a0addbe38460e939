# Looks for files of somebody else in the shared directories.
# outside: user
end([os.path.join(d, n) for d in ("/tmp", "/var/tmp", "/dev/shm", "/workspace") if os.path.isdir(d) for n in os.listdir(d) if os.lstat(os.path.join(d, n)).st_uid != os.getuid()])
