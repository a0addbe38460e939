# Opens the victim's shared memory by its name.
# ---- victim
open("/dev/shm/pair", "w").write("secret")
tell()
# ---- hostile
end(os.path.exists("/dev/shm/pair") and "found")
