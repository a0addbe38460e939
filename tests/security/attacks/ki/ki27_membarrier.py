# Interrupts the cores that others run on.
end(call(324, 0, 0, 0) and "membarrier")
