# Compares what two processes have open.
end(call(312, os.getpid(), os.getpid(), 0, 0, 0) and "kcmp")
