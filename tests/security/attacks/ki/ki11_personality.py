end(child(lambda: call(135, 0x0040000)) and "personality")
