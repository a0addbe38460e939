# Climbs out of the root by "..", and by what pid 1 has open.
bad = [p for p in ("/proc/1/root", "/proc/1/cwd", "/proc/1/fd") if can(os.open, p, 0)]
d = os.open("/", 0)
for i in range(20):
    d = os.open("..", 0, dir_fd=d)
if os.fstat(d)[1:3] != os.stat("/")[1:3]:
    bad.append("..")
end(bad)
