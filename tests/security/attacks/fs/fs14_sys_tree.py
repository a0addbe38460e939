end(os.listdir("/sys"))
