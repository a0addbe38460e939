# Lists the hardware in /sys.
end(os.listdir("/sys"))
