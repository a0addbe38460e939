# Gives advice about the memory of another process.
end(error(440, -1, -1, 1, 4, 0) not in (errno.ENOSYS, errno.EPERM) and "process_madvise")
