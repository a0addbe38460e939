# Sets bits above the 32nd in the number of a call.
end([n for n, a in ((41, (2, 1, 0)), (272, (0x20000,)), (53, (2, 1, 0))) if child(lambda: call(n | 1 << 32, *a))])
