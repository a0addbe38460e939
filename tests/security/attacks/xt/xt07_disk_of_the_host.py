# Reads how full the host's disk is.
end(os.statvfs("/").f_blocks * os.statvfs("/").f_frsize > 1 << 30 and "the disk")
