end(child(lambda: call(323, 1)) and "userfaultfd")
