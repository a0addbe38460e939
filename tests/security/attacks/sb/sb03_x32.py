# Makes calls by the numbers of the x32 binary interface.
# outside: may hold, many kernels have no x32
end([n for n in (39, 41, 272) if child(lambda: call(n | 0x40000000, 1, 1, 0))])
