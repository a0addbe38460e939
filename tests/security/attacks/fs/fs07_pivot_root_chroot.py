# Changes its root.
end(child(lambda: C.chroot(b"/tmp") == 0) and "chroot")
