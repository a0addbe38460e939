# Opens memory and environment of pid 1.
end([p for p in ("mem", "environ", "auxv") if can(os.open, "/proc/1/" + p, 0)])
