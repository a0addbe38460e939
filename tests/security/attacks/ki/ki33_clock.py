# Sets the clock, to what it is.
end(call(164, None, None) and "settimeofday")
