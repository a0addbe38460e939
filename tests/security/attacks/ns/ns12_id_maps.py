# Opens its own maps of ids for writing.
end([n for n in ("uid_map", "gid_map", "projid_map") if can(os.open, "/proc/self/" + n, os.O_WRONLY)])
