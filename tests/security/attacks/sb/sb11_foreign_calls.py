# Makes every 32-bit and every x32 call: each must end the process that makes it.
# outside: user
import mmap
m = mmap.mmap(-1, 4096, prot=7)
m.write(b"\x53\x89\xf8\x83\xcb\xff\x83\xc9\xff\x83\xca\xff\xcd\x80\x5b\xc3")
int80 = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
def dies(f, n):
    pid = os.fork()
    if pid == 0:
        f(n)
        os._exit(0)
    return os.waitpid(pid, 0)[1] & 0x7f == 31
# without those that stop, fork, return from signals or write disks to their end
bad = [n for n in range(0, 450, 3) if n not in (1, 2, 7, 29, 36, 72, 114, 119, 120, 173, 179, 190, 252, 284) and not dies(int80, n)]
end(bad + [n for n in (0, 1, 39, 41, 59, 272, 321, 450, 512, 600) if not dies(lambda n: call(n | 0x40000000), n)])
