# Takes a mount away, to see what is below it.
end(C.umount2(b"/proc", 2) == 0 and "/proc")
