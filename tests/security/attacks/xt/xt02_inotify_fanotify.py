# Makes a fanotify descriptor.
end(child(lambda: call(300, 0, 0)) and "fanotify")
