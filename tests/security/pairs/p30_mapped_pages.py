# Counts who has a page of a file of the image in memory: a page that the victim has read, and one that nobody has.
# known: smaps tells of each page whether others have it
# ---- hostile
import mmap
file = "/usr/lib/python3.11/pydoc_data/topics.py"
m = mmap.mmap(os.open(file, 0), 8192, prot=1, flags=2)
def shared():
    m[0], m[4096]
    n = None
    for line in open("/proc/self/smaps"):
        if file in line:
            n = 0
        elif n is not None and line.startswith("Shared_"):
            n += int(line.split()[1])
        elif n is not None and line.startswith("VmFlags"):
            return n
before = shared()
tell(file=file, before=before)
# ---- victim
import mmap
m = mmap.mmap(os.open(told["file"], 0), 8192, prot=1, flags=2)
m[4096]
tell(**told)
# ---- hostile
end(shared() > before and "%d of 8 KiB were shared, now %d" % (before, shared()))
