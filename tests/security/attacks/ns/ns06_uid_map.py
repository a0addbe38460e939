# Looks whether it is a user of the host.
# outside: host
rows = [[int(x) for x in l.split()] for f in ("uid", "gid") for l in open("/proc/self/%s_map" % f)]
end([r for r in rows if r[1] < 65536 or r[2] > 65536] or (os.getuid() == 0 and "root"))
