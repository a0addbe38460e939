# Takes all the pages of pipes that its user may have.
# ---- hostile
import fcntl
keep = []
def one(i):
    keep.append(os.pipe())
    fcntl.fcntl(keep[-1][1], 1031, MIB)
often(one, 80)
often(lambda i: keep.append(os.pipe()), 40)
tell()
# ---- victim
import fcntl
end(fcntl.fcntl(os.pipe()[1], 1032) < 65536 and "small ones left")
