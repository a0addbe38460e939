# Makes a directory below /dev.
p = "/dev/.d%d" % os.getpid()
got = can(os.mkdir, p)
if got:
    os.rmdir(p)
end(got and "a folder below /dev")
