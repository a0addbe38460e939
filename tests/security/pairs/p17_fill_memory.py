# Takes as much memory as it can.
# outside: held, there is no common limit there
# ---- hostile
keep = []
child(lambda: often(lambda i: keep.append(touch(16)), 40))
often(lambda i: keep.append(touch(16)), 8)
tell()
# ---- victim
end(not child(lambda: touch(128)) and "none left")
