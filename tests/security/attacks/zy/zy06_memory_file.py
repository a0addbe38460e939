# Looks for the file that is its launcher's memory, to open it or to take pages out of it.
# outside: launcher
C.prctl(4, 1, 0, 0, 0)
bad = [f for f in os.listdir("/proc/self/fd") if "memfd" in (os.readlink("/proc/self/fd/" + f) if os.path.lexists("/proc/self/fd/" + f) else "")]
for line in open("/proc/self/maps"):
    place = line.split()[0]
    start, stop = (int(x, 16) for x in place.split("-"))
    if "/memfd:" in line:
        bad += [m for m in (os.O_RDONLY, os.O_RDWR) if can(os.open, "/proc/self/map_files/" + place, m)]
        bad += ["hole"] * child(lambda: call(28, start, stop - start, 9))
end(bad)
