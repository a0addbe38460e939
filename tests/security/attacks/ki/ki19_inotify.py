# Makes an inotify descriptor.
end(child(lambda: call(294, 0)) and "inotify")
