# Looks for the victim's processes by their names.
# ---- victim
import subprocess
p = subprocess.Popen(["/bin/sh", "-c", "sleep 20; : victim-of-a-pair"])
began(p)
tell(word="victim-of-" + "a-pair")
# ---- hostile
bad = []
for n in os.listdir("/proc"):
    try:
        if n.isdigit() and told["word"] in open("/proc/%s/cmdline" % n).read():
            bad.append(n)
    except OSError:
        pass
end(bad)
