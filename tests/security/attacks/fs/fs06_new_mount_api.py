# Mounts by the newer calls.
end([n for n, f in (("fsopen", lambda: call(430, b"tmpfs", 1)), ("open_tree", lambda: call(428, -100, b"/", 1))) if child(f)])
