# Makes a System V message queue.
i = C.msgget(0, 0o1600)
if i >= 0:
    C.msgctl(i, 0, None)
end(i >= 0 and "a queue")
