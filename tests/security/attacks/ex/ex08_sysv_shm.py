i = C.shmget(0, 4096, 0o1600)
if i >= 0:
    C.shmctl(i, 0, None)
end(i >= 0 and "shared memory")
