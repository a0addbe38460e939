# Creates a file in every system directory.
bad = []
for d in ("/", "/usr", "/usr/bin", "/usr/lib", "/etc", "/var", "/var/tmp", "/home", "/root", "/run", "/mnt", "/dev"):
    if os.path.realpath(d) in ("/tmp", "/workspace"):
        continue
    p = os.path.join(d, ".retort-%d" % os.getpid())
    if can(os.open, p, os.O_CREAT | os.O_WRONLY, 0o600):
        os.unlink(p)
        bad.append(d)
end(bad)
