# Is the same user of the host as the victim.
# ---- victim
def host(kind, mine):
    inside, outside = map(int, open("/proc/self/%s_map" % kind).read().split()[:2])
    return outside + mine - inside
tell(uid=host("uid", os.getuid()), gid=host("gid", os.getgid()))
# ---- hostile
def host(kind, mine):
    inside, outside = map(int, open("/proc/self/%s_map" % kind).read().split()[:2])
    return outside + mine - inside
end((told["uid"] == host("uid", os.getuid()) or told["gid"] == host("gid", os.getgid())) and "the same")
