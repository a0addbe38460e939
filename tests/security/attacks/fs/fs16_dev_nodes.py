# Looks for device nodes besides the five harmless ones.
import stat
bad = []
for d, _, names in os.walk("/dev"):
    for n in names:
        p = os.path.join(d, n)
        m = os.lstat(p).st_mode
        if (stat.S_ISCHR(m) or stat.S_ISBLK(m)) and n not in ("null", "zero", "full", "random", "urandom"):
            bad.append(p)
end(bad)
