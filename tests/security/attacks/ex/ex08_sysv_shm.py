# Takes System V shared memory, which no memory limit of a process counts.
i = C.shmget(0, 4096, 0o1600)
if i >= 0:
    C.shmctl(i, 0, None)
end(i >= 0 and "shared memory")
