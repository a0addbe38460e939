# Writes to memory that all sandboxes have from their template, and looks for what the victim wrote there.
# outside: held, two processes that were forked have that memory each for itself, too
# ---- victim
text = sys.copyright
where = id(text) + sys.getsizeof(text) - len(text) - 1
ctypes.memmove(where, b"CANARY", 6)
tell(wrote=sys.copyright[:6], where=where)
# ---- hostile
text = sys.copyright
where = id(text) + sys.getsizeof(text) - len(text) - 1
seen = [text[:6], ctypes.string_at(told["where"], 6).decode("latin-1") if told["where"] == where else ""]
end(told["wrote"] != "CANARY" and "nothing was written" or "CANARY" in seen and seen)
