# Asks for a userfaultfd, which holds the kernel up at will.
end(child(lambda: call(323, 1)) and "userfaultfd")
