# Parks 4000 descriptors in a socket, where no limit of open files counts them.
import array, socket
a, b = socket.socketpair()
a.setblocking(False)
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 200))]
n = often(lambda i: a.sendmsg([b"x"], rights), 20)
end(n == 20 and "4000 descriptors in flight")
