# Looks for device nodes besides the five harmless ones.
import stat
known = [os.makedev(1, n) for n in (3, 5, 7, 8, 9)]
bad = []
for d, _, names in os.walk("/dev"):
    for n in names:
        p = os.path.join(d, n)
        s = os.lstat(p)
        if stat.S_ISBLK(s.st_mode) or stat.S_ISCHR(s.st_mode) and s.st_rdev not in known:
            bad.append(p)
end(bad)
