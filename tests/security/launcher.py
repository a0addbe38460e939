# A launcher as it must not be: it keeps its socket, its request, a handler, a
# thread and a file that is its memory within reach of the code that it runs.
import mmap, os, signal, socket, sys, threading


def main(path):
    request = {"code": open(path).read(), "secret": "LAUNCHER"}
    ours, theirs = socket.socketpair()
    memory = os.memfd_create("launcher")
    os.truncate(memory, 4096)
    mapped = mmap.mmap(memory, 4096, flags=mmap.MAP_PRIVATE)
    signal.signal(signal.SIGTERM, lambda *a: None)
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    exec(compile(request["code"], path, "exec"), {"__name__": "__main__"})


main(sys.argv[1])
