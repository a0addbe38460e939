# Reads well-known secrets of the host.
end([p for p in ("/etc/shadow","/root/.bashrc","/etc/gshadow","/proc/1/environ") if can(os.open,p,0)])
