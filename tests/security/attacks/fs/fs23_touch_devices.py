# Sets the times of device nodes, which every sandbox sees.
end([p for p in ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom") if can(os.utime, p)])
