# Asks for merging of equal pages, which tells what others have in memory.
# outside: may hold, many kernels have no KSM
import mmap
end(can(mmap.mmap(-1, 1 << 16).madvise, 12) and "MADV_MERGEABLE")
