# Asks for everything that prctl can; what is not needed must be refused.
# outside: user
known = (1, 2, 3, 4, 7, 15, 16, 21, 23, 29, 30, 38, 39)
end([n for n in range(0, 80) if n not in known and not child(lambda: error(157, n, 0, 0, 0, 0) == errno.EPERM)])
