# Is the same user of the host as the victim.
# ---- victim
tell(uid=open("/proc/self/uid_map").read().split()[1], gid=open("/proc/self/gid_map").read().split()[1])
# ---- hostile
end((told["uid"] == open("/proc/self/uid_map").read().split()[1] or told["gid"] == open("/proc/self/gid_map").read().split()[1]) and "the same")
