# Chooses the core that it runs on, and with it a neighbour.
end(child(lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)) is None) and "a core")
