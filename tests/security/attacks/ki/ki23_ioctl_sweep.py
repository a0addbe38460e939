# Makes every ioctl of terminals, files and namespaces; what is not needed must be refused.
# outside: user
r, w = os.pipe()
known = (0x5401, 0x540f, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x5452)
todo = list(range(0x5400, 0x5480)) + list(range(0xb701, 0xb70a)) + [0x6601, 0x6602, 0x40046602, 0x5331, 0x8933, 0x894c, 0x40049409]
end([hex(n) for n in todo if n not in known and error(16, r, n, 0) != errno.EPERM])
