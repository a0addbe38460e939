# Has the kernel put small pages together to a huge one, be they a file's that all have in memory.
# outside: may hold, a kernel without huge pages
import mmap
m = mmap.mmap(-1, 6 * MIB, flags=34)
m[::4096] = b"x" * len(m[::4096])
start = ctypes.addressof(ctypes.c_char.from_buffer(m)) + 2 * MIB - 1 & -2 * MIB
end(error(28, start, 2 * MIB, 25) not in (errno.EPERM, errno.ENOSYS) and "MADV_COLLAPSE")
