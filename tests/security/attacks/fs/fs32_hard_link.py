# Links a file of the system into its own directory.
p = "/etc/.l%d" % os.getpid()
bad = []
for to in ("/etc", "/tmp", "/workspace"):
    p = "%s/.l%d" % (to, os.getpid())
    if os.path.isdir(to) and can(os.link, "/etc/passwd", p):
        os.unlink(p)
        bad.append(to)
end(bad)
