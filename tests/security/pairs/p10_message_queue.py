# Opens the victim's message queue.
# ---- victim
q = C.mq_open(b"/pair", os.O_CREAT | os.O_RDWR, 0o666, None)
tell()
# ---- hostile
end(C.mq_open(b"/pair", 0) >= 0 and "found")
