# Switches the randomness of its address space off.
end(child(lambda: call(135, 0x0040000)) and "personality")
