# Notices what the victim reads.
# ---- hostile
i = C.inotify_init1(0o4000)
C.inotify_add_watch(i, b"/etc", 0x21)
tell()
# ---- victim
open("/etc/passwd").read()
tell()
# ---- hostile
end(can(lambda: os.read(i, 4096) and None) and "noticed")
