#!/usr/bin/perl

# The frozen copy that stands by, and takes over when the kernel is killed.
# This test is its pid 1.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(sleep time);

use Retort::Kernel;
use Retort::Wait qw(patiently);

use constant { SNAPSHOT => 0x100, RESET => 8, READY => 101, GONE => 0 };

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel = Retort::Kernel->start(linger => 1);


sub brief { return Retort::Kernel::brief($kernel->run(@_)) }


# what the promise says comes true; 0 if it does not for long

sub soon {
    my ($what) = @_;

    return patiently($what, 20) ? 1 : 0;
}

sub alive { return Retort::Kernel::alive(@_) }

# a copy comes a moment after its cell, before the kernel waits without end

sub settled {
    return soon(sub {
        slurp('/proc/' . $kernel->kernel_pid . '/syscall')
            =~ /^\d+ \S+ 0x1 (0xf+|0x0) /;
    });
}

sub copy {
    my $copy;
    soon(sub {
        my @all = $kernel->pids;
        $copy = $all[1];
        @all == 2 && slurp("/proc/$copy/status") =~ /^SigBlk:\tf/m
            && slurp("/proc/$copy/wchan") =~ /sigtimedwait|^0|^$/;
    });
    return $copy;
}

sub slurp {
    open my $fh, '<', $_[0] or return '';
    local $/;
    return scalar <$fh> // '';
}

# asks what runs are undone, as each front does that finds it

sub told {
    my ($number) = @_;
    my $msg;
    $kernel->send_packet(RESET, $number, 0, 0, [], '');
    do { $msg = $kernel->packet } until !$msg || $msg->{run} == $number;
    $kernel->drain;
    return $msg && $msg->{type} == RESET ? $msg->{a} : 'nothing';
}

sub in_step { return told(@_) ne 'nothing' }

# the kernel dies and its copy is called

sub succeed {
    my ($first, $copy) = (($kernel->pids)[0], copy());
    kill 'KILL', $first;
    soon(sub { !alive($first) });
    kill 'USR2', $copy;
    return $copy;
}


is_deeply(brief('x = 1'), ['ok'], 'a run that does not ask');
is(scalar(() = $kernel->pids), 1, 'has no copy');
$kernel->{flags} = SNAPSHOT;
is_deeply(brief('x = 2'), ['ok'], 'one that asks');
settled();
my $first = copy();
ok($first, 'has one');
is_deeply(brief('x = 3'), ['ok'], 'after the next');
ok(soon(sub { !alive($first) && (() = $kernel->pids) == 2 }), 'there is another, and one '
    . 'only');

$kernel->begin("x = 4\nimport os, signal\nprint('go', flush=True)\nwhile True: pass");
$kernel->one_event($kernel->message);
my $copy = copy();
is(slurp("/proc/$copy/oom_score_adj"), "350\n", 'memory is not taken from it '
    . 'first');
isnt((split ' ', slurp("/proc/$copy/stat"))[4],
    (split ' ', slurp('/proc/' . $kernel->kernel_pid . '/stat'))[4],
    'it is in no process group that a cell could signal');
kill $_, $copy for qw(INT TERM HUP CHLD ALRM USR1 CONT);
succeed();
$kernel->send_packet(Retort::Kernel::ACK, 9, 0, 0, [], '');
$kernel->send_packet(Retort::Kernel::RUN, 9, 0, 0, [3], 'x=5');
$kernel->send_packet(Retort::Kernel::RUN, 9, 0, 0, [9], 'x=5');
$kernel->send_packet(99, 9, 0, 0, [], '');
ok(in_step(4711), 'it takes over, drops what was for the dead, and answers');
is_deeply(brief('x'), ['result:3', 'ok'], 'what was before the cell is there');
is(slurp('/proc/' . $kernel->kernel_pid . '/oom_score_adj'), "500\n",
    'it is the kernel to the memory\'s killer as well');
ok(copy(), 'and has a copy in turn');

# what its signal is worth

my $inside = "import os\nothers = [int(p) for p in os.listdir('/proc') "
    . "if p.isdigit() and int(p) not in (1, os.getpid())]";
brief("$inside\nx = 6");
settled();
brief("$inside\n[os.kill(p, 12) for p in others]\n");
is_deeply(brief('x'), ['result:6', 'ok'], 'a signal from inside does not wake it');
ok(copy(), 'and is forgotten');

# nothing of it shows

is_deeply(brief("import os\ntry: os.waitpid(-1, os.WNOHANG)\n"
    . "except ChildProcessError: print('none')"), ["1:none\n", 'ok'],
    'no wait() finds it');
brief("import os\nhooks = []\nos.register_at_fork(before=lambda: "
    . "hooks.append('before'), after_in_child=lambda: hooks.append('child'))");
brief('y = 1') for 1 .. 3;
is_deeply(brief('hooks'), ['result:[]', 'ok'], 'no hook of a fork runs for it');
settled();
succeed();
ok(in_step(1), 'it takes over');
is_deeply(brief('hooks'), ["result:['child']", 'ok'],
    'then it is a forked child to all who care');

# between two cells

brief("import signal\nticks = 0\ndef tick(*a):\n    global ticks\n    ticks += 1"
    . "\nsignal.signal(signal.SIGALRM, tick)\nsignal.setitimer(signal.ITIMER_REAL,"
    . " 0.05)");
settled();
sleep 0.3;
$kernel->begin("ticks = -1\nprint('go', flush=True)\nwhile True: pass");
$kernel->one_event($kernel->message);
succeed();
in_step(2);
is_deeply(brief('ticks'), ['result:1', 'ok'],
    'what a signal\'s handler did between two cells is kept');

brief("import threading, time\nn = 0\ndef count():\n    global n\n    while True:"
    . "\n        n += 1; time.sleep(0.001)\n"
    . "threading.Thread(target=count, daemon=True).start()");
settled();
sleep 0.2;
$kernel->begin("m = n\nprint(m, flush=True)\nwhile True: pass");
my ($m) = $kernel->message->{parts}[0] =~ /(\d+)/;
succeed();
in_step(3);
cmp_ok($m, '>', 5, 'a thread that counts');
my ($n) = brief('print(n)')->[0] =~ /1:(\d+)/;
cmp_ok($n, '>', $m - 20, 'what it did between two cells is kept');
is_deeply(brief("print(threading.active_count())\ntime.sleep(0.05); print(n == $n)"),
    ["1:1\nTrue\n", 'ok'], 'the thread is not there any more');

# as often as one likes

for (1 .. 5) {
    brief("k = $_");
    settled();
    succeed();
    in_step(10 + $_);
}

is_deeply(brief('k'), ['result:5', 'ok'], 'five in a row');

# cells in rapid succession: what stands by is behind, and says how far

brief("k = $_") for 1 .. 300;
succeed();
my $undone = told(20);
is(told(21), $undone, 'a front that comes next hears it, too');
is_deeply(brief('k'), ['result:' . (300 - $undone), 'ok'],
    'as many cells are undone as are told');
is(told(22), $undone, 'the first run may have had no reader left');
brief('1') for 1, 2;
is(told(23), 0, 'who asks for the next one has heard the first');
settled();
succeed();
in_step(24);
is_deeply(brief('k'), ['result:' . (300 - $undone), 'ok'],
    'who pauses loses none');

# a copy that is put off holds nothing up

brief("import signal\nsignal.signal(signal.SIGALRM, lambda *a: open('/tmp/rang', 'w'))");
brief("k = $_") for 1 .. 300;
brief('signal.setitimer(signal.ITIMER_REAL, 0.05)');
ok(soon(sub { -e '/proc/' . $kernel->kernel_pid . '/root/tmp/rang' }),
    'a handler runs between cells, though no copy may be made yet');

$kernel->{flags} = 0;
brief('k');
ok(soon(sub { (() = $kernel->pids) == 1 }), 'a run that does not ask ends the copy');

my $one = Retort::Kernel->start;
$one->{flags} = SNAPSHOT;
$one->run('x = 1');
is($one->end, GONE, 'the end of the channel is the end of both');
done_testing();
