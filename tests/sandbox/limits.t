#!/usr/bin/perl

# Every limit is hit, and what is told is what happened.  Where code can go on
# after the limit, it does.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

my $s = Retort::Service->new(profiles => { default => {
    memory => '192m 512m', disk => '8m 32m', inodes => '200 400',
    tmp => '4m 8m', fsize => '6m 16m', processes => '24 64', cpu => '0.5 1',
    files => '64 128', timeout => '3s 30s', output => '20k 100k',
    image => '64k 1m', request => '256k 1m', artifacts => '3 5',
} });

my $box = $s->session;
my $r;


sub here { $s->run($_[0], sandbox_id => $box, @_[1 .. $#_]) }


# ---- wall time ----

$r = here('while True: pass', timeout => 1);
is($r->{status}, 'timeout', 'a loop without an end ends as timeout');
$r = here("import time\ntry:\n    time.sleep(60)\nfinally:\n    print('tidy')", timeout => 1);
is($r->{status}, 'timeout', 'a sleep ends as timeout');
like($r->{stdout}, qr/tidy/, 'it was asked to end first, and could tidy up');

$r = here('x = 7');
here('import time; time.sleep(60)', timeout => 1);
is(here('print(x)')->{stdout}, "7\n",
    'a soft timeout keeps the variables');

$r = here(<<'PY', timeout => 1);
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    try: time.sleep(1)
    except BaseException: pass
PY
is($r->{status}, 'timeout', 'code that ignores the interrupt ends all the same');
is(here('print(1)')->{stdout}, "1\n", 'and its session goes on');

# ---- memory ----

$r = here('b = bytearray(900 << 20)');
like($r->{status}, qr/^(?:oom|error)$/, 'more memory than there is');
$r = here("a = []\nwhile True: a.append(bytearray(1 << 20))");
is($r->{status}, 'oom', 'memory taken bit by bit ends as oom');
is(here('print(2)')->{stdout}, "2\n", 'and its session goes on');

$r = here(<<'PY');
import os
open("/dev/shm/x", "wb").write(b"x" * (1 << 20))
print("fits")
PY
is($r->{stdout}, "fits\n", '/dev/shm can be used');
cmp_ok(here('x = b"x" * (64 << 20)')->{usage}{peak_memory_bytes}, '>', 64 << 20,
    'the peak that is told holds what was taken');

# ---- processes ----

$r = here(<<'PY');
import os
n = 0
try:
    for i in range(200):
        if os.fork() == 0:
            import time; time.sleep(1); os._exit(0)
        n += 1
except OSError as e:
    print("stopped", n < 24, e.errno)
for i in range(n): os.wait()
PY
like($r->{stdout}, qr/^stopped True 11$/m, 'a fork bomb stops at the limit');

# ---- disk, inodes, one file, scratch ----

$r = here(<<'PY');
import os
def fill(path, size):
    try:
        with open(path, "wb") as f: f.write(b"x" * size)
        return "wrote"
    except OSError as e:
        os.path.exists(path) and os.unlink(path)
        return os.strerror(e.errno)
print(fill("/workspace/a", 5 << 20))
print(fill("/workspace/b", 5 << 20)); os.unlink("/workspace/a")
print(fill("/workspace/c", 7 << 20))
print(fill("/tmp/d", 5 << 20))
try:
    for i in range(1000): open("/workspace/i%d" % i, "w").close()
except OSError as e: print(os.strerror(e.errno), i < 200)
for n in os.listdir("/workspace"): os.unlink("/workspace/" + n)
PY
is($r->{stdout}, "wrote\nNo space left on device\nFile too large\n"
    . "No space left on device\nNo space left on device True\n",
    'bytes, bytes of one file, scratch bytes and inodes are all bounded')
    or diag(explain $r);

# ---- open files ----

$r = here(<<'PY');
import os
fds = []
try:
    while True: fds.append(os.open("/dev/null", 0))
except OSError as e: print(e.errno, len(fds) < 64)
for f in fds: os.close(f)
PY
is($r->{stdout}, "24 True\n", 'open files are bounded');

# ---- output ----

$r = here('print(chr(233) * 60000)');
is($r->{status}, 'ok', 'a run that prints too much is still ok');
cmp_ok(length $r->{stdout}, '<', 22_000, 'its text is cut');
like($r->{stdout}, qr/of 120,001 bytes cut/, 'and tells the true size');
unlike($r->{stdout}, qr/\x{fffd}/, 'it is cut between characters');
$r = here("import sys\nfor i in range(3000000): sys.stdout.write('0123456789' * 3)", timeout => 30);
like($r->{status}, qr/^(?:ok|timeout)$/, 'endless printing ends by itself or in time')
    or diag(explain $r);

# ---- pictures ----

$r = here(<<'PY');
from IPython.display import display, Image
import numpy as np, matplotlib.pyplot as plt
plt.figure(figsize=(12, 12)); plt.imshow(np.random.rand(900, 900)); plt.show()
PY
is(scalar(grep { ($_->{mime} // '') eq 'image/png' } @{ $r->{artifacts} }), 0,
    'a picture above the limit is not stored');

# ---- cpu ----

$r = here(<<'PY', timeout => 30);
import time, os
t, c = time.time(), time.process_time()
while time.time() - t < 1.5: pass
print(round((time.process_time() - c) / (time.time() - t), 2))
print(os.cpu_count(), os.environ.get("OMP_NUM_THREADS"))
PY
my ($share) = $r->{stdout} =~ /^([\d.]+)/;
cmp_ok($share, '<', 0.7, "half a core gives half a core ($share)");
like($r->{stdout}, qr/^1 1$/m, 'code sees as many cores as it may use');
$r = $s->bash('nproc', sandbox_id => $box);
is($r->{stdout}, "1\n", 'and so does bash') or diag(explain $r);

# ---- what a request may ask for ----

is($s->run('1', timeout => 31)->{http}, 400, 'more time than the ceiling is refused');
is($s->run('1', limits => { memory_bytes => 1 << 40 })->{http}, 400,
    'more memory than the ceiling is refused');
$r = $s->run(<<'PY', limits => { processes => 17 });
import os, time
n = 0
try:
    while n < 40:
        if os.fork() == 0: time.sleep(60)
        n += 1
except OSError: print(n)
PY
like($r->{stdout}, qr/^1[0-6]$/, 'a lower limit is taken') or diag(explain $r);
is($s->run('#' x 300_000)->{http}, 413, 'a request above the limit is refused');

$s->end;
done_testing;
