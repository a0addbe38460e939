# Kills, stops and aborts pid 1.
# outside: held, the kernel protects every pid 1 from its own namespace
for n in (9, 19, 15, 6, 1, 34, 64):
    can(os.kill, 1, n)
end(not can(os.kill, 1, 0) and "pid 1")
