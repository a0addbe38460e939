# Takes every inode of /tmp.
# ---- hostile
often(lambda i: open("/tmp/i%d" % i, "w").close(), 5000)
tell()
# ---- victim
end(not can(lambda: open("/tmp/mine", "w").close()) and "none left")
