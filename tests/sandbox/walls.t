#!/usr/bin/perl

# What a sandbox is made of, seen from inside by hostile code and from outside
# by the host.  Every attack runs outside first, where it must succeed:
# otherwise a mistake in it would pass as security.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Retort::Weaker;
use Test::More;

my $s = Retort::Service->new;
my $box = $s->session;

# the same text as a program of the host's python, as root
sub outside {
    my ($code) = @_;
    my $file = "$s->{dir}/attack.py";

    Retort::Service::write_file($file, $code);

    return scalar `unshare -m -n -i -u /usr/bin/python3 $file 2>&1`;
}


# each prints "got" if it gets through; the last expression is never shown
my @attacks = (
    ['reads the host\'s password file', <<'PY'],
try:
    print("got" if "root:" in open("/etc/shadow").read() else "no")
except OSError: print("no")
PY
    ['writes below /usr', <<'PY'],
import os
try:
    open("/usr/lib/x-retort", "w").close(); os.unlink("/usr/lib/x-retort"); print("got")
except OSError: print("no")
PY
    ['mounts a tmpfs', <<'PY'],
import ctypes
c = ctypes.CDLL(None)
print("no" if c.mount(b"t", b"/mnt", b"tmpfs", 0, None) else "got")
PY
    ['makes a user namespace', <<'PY'],
import ctypes, os
pid = os.fork()
if pid == 0: os._exit(0 if ctypes.CDLL(None).unshare(0x10000000) == 0 else 1)
print("got" if os.waitpid(pid, 0)[1] == 0 else "no")
PY
    ['makes a network socket', <<'PY'],
import socket
try:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM); print("got")
except OSError: print("no")
PY
    ['makes a netlink socket', <<'PY'],
import socket
try:
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW); print("got")
except OSError: print("no")
PY
    ['traces a child', <<'PY'],
import ctypes, os
pid = os.fork()
if pid == 0: os._exit(0 if ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0 else 1)
print("got" if os.waitpid(pid, 0)[1] == 0 else "no")
PY
    ['asks for an io_uring', <<'PY'],
import ctypes
b = ctypes.create_string_buffer(256)
print("no" if ctypes.CDLL(None).syscall(425, 4, b) < 0 else "got")
PY
    ['adds a key to a keyring', <<'PY'],
import ctypes
print("no" if ctypes.CDLL(None).syscall(248, b"user", b"retort-t", b"x", 1, -2) < 0 else "got")
PY
    ['becomes another user', <<'PY'],
import os
pid = os.fork()
if pid == 0:
    try: os.setresuid(0 if os.getuid() else 65534, -1, -1); os._exit(0)
    except OSError: os._exit(1)
print("got" if os.waitpid(pid, 0)[1] == 0 else "no")
PY
    ['makes a device node', <<'PY'],
import os, stat
try:
    os.mknod("/tmp/x-retort-node", stat.S_IFBLK | 0o600, os.makedev(7, 0))
    os.unlink("/tmp/x-retort-node"); print("got")
except OSError: print("no")
PY
    ['sees a process of the host', <<'PY'],
import os
print("got" if any(n.isdigit() and os.path.exists("/proc/%s/exe" % n)
    and "python" not in open("/proc/%s/comm" % n).read()
    and "kernel" not in open("/proc/%s/comm" % n).read()
    for n in os.listdir("/proc")) else "no")
PY
    ['sets the host name', <<'PY'],
import socket
try:
    socket.sethostname(socket.gethostname()); print("got")
except OSError: print("no")
PY
    ['reads /proc/sys', <<'PY'],
import os
print("got" if os.path.exists("/proc/sys/kernel/core_pattern") else "no")
PY
    ['finds a path in /sys', <<'PY'],
import os
print("got" if os.path.isdir("/sys/kernel") else "no")
PY
);

for my $attack (@attacks) {
    my ($what, $code) = @$attack;

    is(outside($code), "got\n", "outside, code $what");

    my $r = $s->run($code, sandbox_id => $box);

    is($r->{stdout} // $r->{bad}, "no\n", "inside, no code $what")
        or diag(explain $r);
}

# ---- what the host says about every process inside ----

my @pids = $s->inside;

cmp_ok(scalar @pids, '>=', 2, 'the host sees pid 1 and the kernel');

my %host = map { $_ => readlink "/proc/$$/ns/$_" }
    qw(user mnt pid net ipc uts cgroup);

for my $pid (@pids) {
    my $status = Retort::Service::slurp("/proc/$pid/status");

    # a snapshot may have been replaced by another one
    next if $status eq '';

    like($status, qr/^Cap$_:\s+0+$/m, "process $pid has no capability ($_)")
        for qw(Inh Prm Eff Bnd Amb);
    like($status, qr/^NoNewPrivs:\s+1$/m, "process $pid gains none by executing");
    like($status, qr/^Seccomp:\s+2$/m, "process $pid has the filter");
    like($status, qr/^Gid:\s+(\d+)\s(?:.*\n)+?Groups:\s*(?:\1)?\s*$/m,
        "process $pid has no group besides its own");

    for my $ns (sort keys %host) {
        my $link = readlink "/proc/$pid/ns/$ns";

        next unless defined $link;

        if (my $why = Retort::Weaker::why("own $ns namespace")) {
            is($link, $host{$ns}, "process $pid has no $ns namespace: $why");
            next;
        }

        isnt($link, $host{$ns}, "process $pid has its own $ns namespace");
    }
}

# ---- without the filter ----

# a program of the host's in its user namespace, as its user, has none
if (!Retort::Weaker::why('own user namespace')) {
    my ($pid) = grep { -e "/proc/$_" } $s->inside;
    my $there = "nsenter -U --setuid 1000 --setgid 1000 -t $pid";

    is(`unshare -U echo made 2>&1`, "made\n", 'outside, a user namespace is made');
    is(`$there echo there 2>&1`, "there\n", 'a program of the host enters that of a sandbox');
    like(`$there unshare -U echo made 2>&1`, qr/No space left/,
        '... and can make none in it: its limit is 0');
}

# ---- what is open ----

my $r = $s->run(<<'PY', sandbox_id => $box);
import os
for n in sorted(os.listdir("/proc/self/fd"), key=int):
    try: print(n, os.readlink("/proc/self/fd/" + n).split(":")[0])
    except OSError: pass
PY

like($r->{stdout}, qr/\A0 \S+\n1 pipe\n2 pipe\n3 socket\n4 pipe\n5 pipe\n(?:\d+ \/proc\S*\n)*\z/,
    'the kernel has its input, two pipes twice and its channel, nothing else')
    or diag(explain $r);

$r = $s->bash('readlink /proc/self/fd/* | grep -v -e ^/proc -e memfd:pwd', sandbox_id => $box);
is($r->{stdout} =~ s/\[\d+\]//gr, "/dev/null\npipe:\npipe:\n",
    'a child has an empty input and two pipes')
    or diag(explain $r);

# ---- two tenants ----

my $neighbour = $s->session;

$s->run('open("/tmp/mine", "w").write("secret"); open("/workspace/mine", "w").write("secret")',
    sandbox_id => $box);
$r = $s->run('import os; print(os.listdir("/tmp"), os.listdir("/workspace"), os.listdir("/dev/shm"))',
    sandbox_id => $neighbour);
unlike($r->{stdout}, qr/mine/, 'a neighbour sees no file of another sandbox');

my %seen;

for my $id ($box, $neighbour) {
    $r = $s->run(<<'PY', sandbox_id => $id);
import random, uuid, os, tempfile, numpy, ssl
print(random.random(), numpy.random.random(), uuid.uuid4(), ssl.RAND_bytes(8).hex(),
      next(tempfile._get_candidate_names()), numpy.random.default_rng().random())
PY
    $seen{$_}++ for split ' ', $r->{stdout};
}

is_deeply([grep { $seen{$_} > 1 } keys %seen], [],
    'two forks of one template draw no random number twice');
is(scalar keys %seen, 12, 'and all of them were drawn');

$s->end;
done_testing;
