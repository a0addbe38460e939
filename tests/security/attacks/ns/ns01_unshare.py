# Makes a namespace of every kind by unshare.
end([hex(f) for f in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80) if child(lambda: C.unshare(f) == 0)])
