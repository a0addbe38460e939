# Writes a trusted attribute.
p = "/tmp/.c%d" % os.getpid()
open(p, "w").close()
got = can(os.setxattr, p, "trusted.retort", b"x")
os.unlink(p)
end(got and "trusted attribute")
