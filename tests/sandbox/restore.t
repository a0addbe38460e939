#!/usr/bin/perl

# A cell that kills the interpreter does not lose the session: its variables are
# what they were before that cell.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use POSIX ();
use Test::More;
use Time::HiRes 'sleep';

my $s = Retort::Service->new(profiles => {
    default => { memory => '320m', processes => '32', timeout => '20s' },
});

my $box = $s->session;
my $r;


# cells without a pause have fewer snapshots: that is promised elsewhere

sub here { sleep 0.05; return $s->run($_[0], sandbox_id => $box, @_[1 .. $#_]) }

sub pause { sleep 2.5 }

sub sum { return join ' ', map { $_ // '-' } @{ $_[0] }{qw(status state)} }

sub told {
    diag join ' | ', map { $_ // '-' } @$r{qw(status state state_reason stdout)},
        ref $r->{error} ? $r->{error}{message} : '';
}

sub said { my $out = here(@_)->{stdout} // ''; chomp $out; return $out }


# ---- what there was before ----

$r = here(<<'PY');
import os, random, threading
import numpy as np, pandas as pd
from fractions import Fraction
np.random.seed(7); random.seed(7); random.gauss(0, 1)
df = pd.DataFrame({"a": np.arange(1_000_000.0), "b": ["x%d" % (i % 9) for i in range(1_000_000)]})
twin = int(pd.util.hash_pandas_object(df).sum())
os.makedirs("deep/er", exist_ok=True); os.chdir("deep/er")
os.environ["KEPT"] = "yes"
f = open("/workspace/notes", "w+"); f.write("before\n"); f.flush()
def double(x): return 2 * x
count = 0
PY
is(sum($r), 'ok kept', 'a session') or told();

my $check = <<'PY';
import copy
r = random.Random(); r.setstate(random.getstate())
q = np.random.RandomState(); q.set_state(np.random.get_state())
print(int(pd.util.hash_pandas_object(df).sum()) == twin, len(df), count,
    os.getcwd(), os.environ["KEPT"], double(Fraction(1, 2)), f.closed,
    open("/workspace/notes").read().strip(), r.random(), r.gauss(0, 1), q.rand())
PY
my $was = said($check);
like($was, qr{^True 1000000 0 /workspace/deep/er yes 1 False before },
    'with a DataFrame, a folder, a variable, a function, a file, random state');

sub goes_on {
    my ($what, $status, $code, %o) = @_;
    my $before = $o{before};
    delete $o{before};
    $r = here("count = 99; del df\nos.environ['KEPT'] = 'no'; os.chdir('/tmp')\n"
        . "random.random(); np.random.rand()\n$code", %o);
    is(sum($r), "$status restored", "$what: $status, and the session goes on")
        or told();
    is($r->{state_reason}, undef, 'no reason is owed');
    is(said($check), $was, 'with all that was before');
}

goes_on('a cell that ignores its end', 'timeout', <<'PY', timeout => 1);
import time
while True:
    try: time.sleep(60)
    except KeyboardInterrupt: pass
PY

goes_on('a cell that takes all memory', 'oom',
    "a = []\nwhile True: a.append(bytearray(1 << 20))");
goes_on('os._exit', 'killed', 'os._exit(3)');
goes_on('a crash in C', 'killed', 'import ctypes; ctypes.string_at(0)');
goes_on('kill -9', 'killed', 'os.kill(os.getpid(), 9)');
goes_on('kill -9 of its process group', 'killed', 'os.killpg(0, 9)');
goes_on('a cell that stops itself', 'timeout', 'os.kill(os.getpid(), 19)',
    timeout => 1);
goes_on('a fork bomb', 'timeout', <<'PY', timeout => 1);
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    try: os.fork()
    except OSError: pass
PY
cmp_ok(here('1')->{usage}{processes}, '<', 6, 'nothing of a fork bomb is left');
goes_on('a thread that ends it', 'killed',
    "threading.Thread(target=lambda: os._exit(1)).start()\nwhile True: pass");

# ---- it moves on with the session ----

pause();
here('count = 5');
$r = here('count = 6; os._exit(1)');
is(said('print(count)'), '5', 'what a good cell did is kept, what a killed one '
    . 'did is not');
here('count += 1; os._exit(1)') for 1 .. 3;
is(said('print(count)'), '5', 'three in a row');

pause();
is(sum(here('1/0')), 'error kept', 'an error is no end');
is(sum(here("while True: pass", timeout => 1)), 'timeout kept',
    'nor is an interrupt that is obeyed');
is(said('print(count, len(threading.enumerate()))'), '5 1',
    'threads of before are not there, and Python knows');

here("def work():\n    global count\n    while True: count += 1\n"
    . "threading.Thread(target=work, daemon=True).start()");
my $a = said('print(count)');
here('os._exit(1)');
my $b = said('print(count)');
cmp_ok($b, '>=', $a, 'what a thread did between two cells is there');
is(said('print(count)'), $b, 'the thread itself is not');

is(sum($s->bash('kill -9 $PPID', sandbox_id => $box)), 'killed restored',
    'a bash cell that kills the interpreter');
is(said('print(os.getcwd())'), '/workspace/deep/er', 'its folder is back');

here("import subprocess\nchild = subprocess.Popen(['sleep', '1000'])");
here("try: os.kill(os.getpid(), 2)\nexcept KeyboardInterrupt: pass");
is(said('print(child.poll())'), 'None', 'a child lives on while no cell is killed');
is(said("try:\n    while True: os.waitpid(-1, os.WNOHANG) == (0, 0) and 1/0\n"
    . "except ZeroDivisionError: print('one')\nchild.kill(); child.wait()\n"
    . "try: os.wait()\nexcept ChildProcessError: print('none')"), "one\nnone",
    'and no wait() finds a child that is not the session\'s');

# ---- a front that dies in between ----

here("count = 10");
my $front = $s->process('retort-front');
my $pid = fork // die;

if ($pid == 0) {
    sleep 1;
    kill 'KILL', $front;
    POSIX::_exit(0);
}

here("import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    . "count = 11\ntime.sleep(15)");
waitpid $pid, 0;
$s->wait_ready;
$r = here('print(count)');
is($r->{stdout} . sum($r), "10\nok restored",
    'the next front ends what it finds, and the copy takes over') or told();

# ---- who disturbs it loses his own ----

my $find = <<'PY';
import os
import ctypes, struct
def page():
    for line in open("/proc/self/maps"):
        if "/dev/zero" in line and "rw-s" in line:
            return int(line.split("-")[0], 16)
def forge(pid): ctypes.memmove(page(), struct.pack("i", pid), 4)
snap = struct.unpack("i", ctypes.string_at(page(), 4))[0]
PY

sub lost {
    my ($what, $code, $reason, %o) = @_;
    $box = $s->session;
    here('x = 1');
    $r = here("$find\n$code", %o);
    is($r->{state}, 'lost', "$what: lost") or told();
    like($r->{state_reason}, $reason, 'and the reason is told');
    is(here('print(1)')->{stdout}, "1\n", 'the session goes on');
    here('y = 1');
    is(sum(here('os._exit(1)', timeout => 1)), 'error kept', 'as a new one');
    here('import os; y = 2');
    here('y = 3; os._exit(1)');
    is(here('print(y)')->{stdout}, "2\n", 'and is protected again');
}

lost('a snapshot that was killed', "os.kill(snap, 9)\n"
    . "import time; time.sleep(0.2)\nos._exit(1)", qr/no snapshot to go back to/);
lost('everything that was killed', 'os.kill(-1, 9); os._exit(1)', qr/snapshot/);

for my $pid (1, 0, -1, 'os.getpid()', 0x7fffffff, -5, 12345) {
    lost("a forged snapshot $pid", "forge($pid); os._exit(1)",
        qr/no snapshot to go back to/);
}

lost('a thread for a snapshot', "import threading, time\n"
    . "t = threading.Thread(target=time.sleep, args=(99,)); t.start()\n"
    . "forge(t.native_id); os._exit(1)",
    qr/no snapshot to go back to/);
lost('another process for a snapshot', "import subprocess\n"
    . "p = subprocess.run('(exec sleep 1000) >/dev/null 2>&1 & echo \$!', "
    . "shell=True, stdout=subprocess.PIPE)\n"
    . "forge(int(p.stdout)); os._exit(1)",
    qr/snapshot/);
lost('a deaf process for a snapshot', "import subprocess\n"
    . "p = subprocess.run('(trap \"\" USR2; exec sleep 1000) >/dev/null 2>&1 & "
    . "echo \$!', shell=True, stdout=subprocess.PIPE)\n"
    . "import time; time.sleep(0.1)\n"
    . "forge(int(p.stdout)); os._exit(1)",
    qr/did not take over in time/);

$box = $s->session;
here('x = 1');
is(sum(here("$find\nos.kill(snap, 19)\nos._exit(1)")),
    'killed restored', 'a snapshot that was stopped is woken');
is(sum(here("$find\nimport time; time.sleep(0.2); os.kill(snap, 12); time.sleep(0.2)\nos._exit(1)")),
    'killed restored', 'one that was called by somebody else stays asleep');
is(here('print(x)')->{stdout}, "1\n", 'the session is as it was');

# ---- cells one upon the other: a copy may be some of them behind ----

my @words = ('nothing', map {"$_ before this one undone as well"}
    'the run', 'the two runs', 'the three runs');

$box = $s->session;
here("n = $_") for 1 .. 300;
$r = here('import os; os._exit(1)');
is(sum($r), 'killed restored', 'a cell after three hundred') or told();

my $behind = 300 - said('print(n)');

is(($r->{state_reason} // 'nothing') =~ s/ (is|are) undone/ undone/r,
    $words[$behind] // 'several runs before this one undone as well',
    'its state_reason tells how many are undone with it');
note("$behind undone");

$s->end;
done_testing;
