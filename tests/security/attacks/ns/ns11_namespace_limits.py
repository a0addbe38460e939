# Raises how many namespaces it may make.
# outside: owner
end([n for n in ("user", "mnt", "net", "pid") if can(os.open, "/proc/sys/user/max_%s_namespaces" % n, os.O_WRONLY)])
