# A launcher as it must not be: it keeps its socket, its request, a handler and
# a thread within reach of the code that it runs.
import signal, socket, sys, threading


def main(path):
    request = {"code": open(path).read(), "secret": "LAUNCHER"}
    ours, theirs = socket.socketpair()
    signal.signal(signal.SIGTERM, lambda *a: None)
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    exec(compile(request["code"], path, "exec"), {"__name__": "__main__"})


main(sys.argv[1])
