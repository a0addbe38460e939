# Locks all that it has in memory.
end(child(lambda: C.mlockall(1) == 0) and "mlockall")
