#!/usr/bin/perl

# What runs in a sandbox ends with it, however it hides, and nothing that it
# does to pid 1 changes what is told.  The host counts the processes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use POSIX ();
use Retort::Service;
use Test::More;
use Time::HiRes qw(sleep time);

my $s = Retort::Service->new(profiles => { default => {
    import => '', memory => '256m', processes => '60', ready => '0',
    timeout => '20s 60s' } });

my %hide = (
    'daemons that ignore every signal' => <<'PY',
import os, signal, time
for i in range(5):
    if os.fork() == 0:
        os.setsid()
        for n in range(1, 65):
            try: signal.signal(n, signal.SIG_IGN)
            except (OSError, ValueError): pass
        if os.fork() == 0:
            os.closerange(0, 100)
            while True: time.sleep(1)
        os._exit(0)
PY
    'a chain of forks that is never twice at one pid' => <<'PY',
import os, time
if os.fork() == 0:
    os.setsid()
    while True:
        if os.fork(): os._exit(0)
        time.sleep(0.002)
PY
    'processes that have stopped themselves' => <<'PY',
import os, signal
for i in range(20):
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
PY
    'parents that wait in vfork' => <<'PY',
import ctypes, os, time
C = ctypes.CDLL(None)
for i in range(10):
    if os.fork() == 0:
        os.setsid()
        if C.syscall(58) == 0:
            while True: time.sleep(1000)
        os._exit(0)
PY
    'threads that sleep for ever' => <<'PY',
import threading
for i in range(20): threading.Thread(target=threading.Event().wait, daemon=True).start()
PY
);

for my $what (sort keys %hide) {
    my $before = $s->inside;
    my $box = $s->session;
    my $r = $s->run("$hide{$what}\nprint('hidden')", sandbox_id => $box, timeout => 20);

    like($r->{stdout}, qr/^hidden$/m, "$what: the run itself ends") or diag(explain $r);
    cmp_ok(scalar(() = $s->inside), '>', $before, '... the host sees it living on');
    $s->json('DELETE', "/v1/sandboxes/$box");
    ok($s->until_true(sub { !$s->inside }, 10), '... and gone with its sandbox')
        or diag(join ' ', $s->inside);

    $r = $s->run("$hide{$what}\nprint('hidden')", timeout => 20);
    like($r->{stdout}, qr/^hidden$/m, '... the same without a session');
    ok($s->until_true(sub { !$s->inside }, 10), '... is gone with the answer');
}

# ---- pid 1 ----

my %pid1 = (
    'ten thousand SIGCHLD to pid 1' => "import os\nfor i in range(10000): os.kill(1, 17)",
    'every signal to pid 1' => "import os\nfor n in range(1, 65):\n    try: os.kill(1, n)\n    except OSError: pass",
    'forged signals to pid 1' => <<'PY',
import ctypes, os, struct
C = ctypes.CDLL(None)
for code in (-1, -6, 0x80, 0, 1):
    b = ctypes.create_string_buffer(struct.pack("iiiiii", 17, 0, code, 0, 2, 1000) + bytes(104))
    C.syscall(129, 1, 17, b)
PY
    'the lowest priority for pid 1' => "import os\ntry: os.setpriority(os.PRIO_PROCESS, 1, 19)\nexcept OSError: pass",
    'orphans by the hundred' => <<'PY',
import os
for i in range(300):
    if os.fork() == 0:
        if os.fork() == 0: os._exit(7)
        os._exit(0)
    os.wait()
PY
);

for my $what (sort keys %pid1) {
    my $box = $s->session;
    my $r = $s->run("$pid1{$what}\nprint('on')", sandbox_id => $box);

    is($r->{stdout}, "on\n", "$what: the run goes on") or diag(explain $r);
    is($s->run('import os; os._exit(5)', sandbox_id => $box)->{status}, 'killed',
        '... pid 1 still tells of an end');
    $s->json('DELETE', "/v1/sandboxes/$box");
}

is($s->run("import os, subprocess\np = subprocess.Popen(['sleep', '99'])\n"
    . "os.kill(-1, 9)\nprint(p.wait())")->{stdout}, "-9\n",
    'who kills everything that it can kills its own children, and goes on');
is($s->run("import os\nos.write(2, b'oom: killed by limit')\nos._exit(137)")->{status}, 'killed',
    'a message and a number about memory make no oom');

# ---- ends by the thousand ----

# Each process names the next one as the kernel's copy, and dies: pid 1 tells the
# broker of each.  It begins when nobody waits for the session.  By a compiler it
# would be: for ( ;; ) { wait for pid 1's signal; pid = clone(memory, parent);
# if (pid != 0) { *copy = pid; exit(0); } }
my $chain = <<'PY';
import ctypes, mmap, os, re, signal, time
C = ctypes.CDLL(None)
page = int(re.search(r"^([0-9a-f]+)-\S+ rw-s", open("/proc/self/maps").read(), re.M)[1], 16)
copy, run = ctypes.c_int.from_address(page), ctypes.c_uint.from_address(page + 8)
kernel, was = os.getpid(), copy.value
code = bytes.fromhex("4889fb4889f5b8800000004889ef31f631d241ba080000000f05b838000000bf11810000"
    "31f631d24531d24531c00f0585c074d28903b83c00000031ff0f05")
room = mmap.mmap(-1, 4096, prot=7)
room.write(code)
loop = ctypes.CFUNCTYPE(None, ctypes.c_ulong, ctypes.c_void_p)(ctypes.addressof(ctypes.c_char.from_buffer(room)))
only = ctypes.create_string_buffer((1 << 11).to_bytes(8, "little"))
if C.syscall(56, 0x8000 | 17, 0, 0, 0, 0) == 0:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while run.value or copy.value in (0, was): time.sleep(0.01)
    os.kill(copy.value, 9)
    copy.value = os.getpid()
    os.kill(kernel, 9)
    loop(page, ctypes.addressof(only))
print("on")
PY

sub ticks { my @f = split ' ', Retort::Service::slurp("/proc/$_[0]/stat") =~ s/.*\) //sr; $f[11] + $f[12] }

my $box = $s->session;
my ($hz, %pids) = (POSIX::sysconf(POSIX::_SC_CLK_TCK()));

is($s->run($chain, sandbox_id => $box)->{stdout}, "on\n", 'a chain of kernels that die begins');

# a container's relay ends one that tells too much
ok($s->until_true(sub {
    $pids{$_} = 1 for $s->inside;
    return keys %pids > 40 || $s->log =~ /warn: container: tells too much/;
}), '... and goes on');

my ($began, $cpu) = (time, ticks($s->{broker}));

# a container takes its time
is($s->run('print(1)')->{stdout}, "1\n", 'others are served beside it')
    for 1 .. (Retort::Service::docker() ? 5 : 20);
sleep 0.1 while time - $began < 3;
$cpu = (ticks($s->{broker}) - $cpu) / $hz / (time - $began);
cmp_ok($cpu, '<', 0.1, sprintf 'the broker has little to do with it (%.3f of a core)', $cpu);

my $next = $s->run('print(1)', sandbox_id => $box);

like($next->{error}{code} // $next->{state}, qr/^(?:lost|sandbox_expired)$/,
    'who goes on there is told that nothing is left') or diag(explain $next);
$s->json('DELETE', "/v1/sandboxes/$box");
ok($s->until_true(sub { !$s->inside }, 10), 'it ends with its sandbox');

# ---- random calls ----

my $fuzz = <<'PY';
import ctypes, os, random, signal, sys, time
C = ctypes.CDLL(None)
rng = random.Random(SEED)
values = [0, 1, 2, 3, 7, 8, 4095, 4096, -1, -100, 1 << 31, 1 << 32, 1 << 63, 0x7fffffffffffffff]
area = ctypes.create_string_buffer(bytes(rng.randrange(256) for i in range(8192)))
values += [ctypes.addressof(area) + rng.randrange(4096) for i in range(8)]
start = time.time()
n = 0
while time.time() - start < 4:
    pid = os.fork()
    if pid == 0:
        os.closerange(3, 10)
        os.dup2(os.open("/dev/null", 1), 1); os.dup2(1, 2)
        os.setpgid(0, 0)
        signal.alarm(1)
        for i in range(400):
            C.syscall(ctypes.c_long(rng.randrange(1024)), *[ctypes.c_long(ctypes.c_long(rng.choice(values)).value) for j in range(6)])
        os._exit(0)
    rng.random()
    signal.alarm(0)
    time.sleep(0)
    end = time.time() + 2
    while os.waitpid(pid, os.WNOHANG)[0] == 0 and time.time() < end:
        time.sleep(0.002)
    try: os.kill(pid, 9)
    except OSError: pass
    n += 1
print("rounds", n > 3)
PY

for my $seed (1 .. (Retort::Service::docker() ? 2 : 3)) {
    (my $code = $fuzz) =~ s/SEED/$seed/;
    my $r = $s->run($code, timeout => 20);

    like($r->{status}, qr/^(?:ok|killed|oom|timeout|error)$/,
        "random calls, seed $seed: the run ends as $r->{status}");
    ok($s->until_true(sub { !$s->inside }, 10), '... nothing of it is left');
}

is($s->run('print(6 * 7)')->{stdout}, "42\n", 'the next tenant is served as before');
$s->end;
done_testing;
