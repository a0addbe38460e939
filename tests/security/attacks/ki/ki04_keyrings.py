# Reaches a keyring.
end(child(lambda: call(250, 0, -2, 1)) and "a keyring")
