# Finds a file that the victim left in any directory.
# ---- victim
places = [d for d in ("/tmp", "/var/tmp", "/dev/shm", "/workspace", "/run", "/home", "/var/lock") if can(lambda: open(d + "/marker", "w").close())]
tell()
# ---- hostile
end([d for d in ("/tmp", "/var/tmp", "/dev/shm", "/workspace", "/run", "/home", "/var/lock") if os.path.exists(d + "/marker")])
