# Finds a key that the victim keeps for its user.
# ---- victim
call(248, b"user", b"pair", b"secret", 6, -4)
tell()
# ---- hostile
end(call(250, 10, -4, b"user", b"pair", 0) and "found")
