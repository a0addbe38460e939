# Looks for secrets in its environment and command line.
C.prctl(4, 1, 0, 0, 0)
text = "\0".join("%s=%s" % i for i in os.environ.items())
for p in ("environ", "cmdline"):
    try:
        text += "\0" + open("/proc/self/" + p, errors="replace").read()
    except OSError:
        pass
end([w for w in ("SECRET", "TOKEN", "PASSWORD", "API_KEY", ".sock", ".conf") if w in text])
