#!/usr/bin/perl

# Tenant code harms its own session, and only that.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Kernel;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel;


sub brief { return Retort::Kernel::brief($kernel->run(@_)) }


# the kernel goes: the front sees the end of the channel

for my $row (
    ['os._exit(3)', 'import os; os._exit(3)', 3],
    ['a crash', 'import ctypes; ctypes.string_at(0)', undef],
    ['its own death', 'import os, signal; os.kill(os.getpid(), 9)', undef],
    ['closing the channel', 'import os; os.close(3)', 0],
    ['closing everything', 'import os; os.closerange(0, 100); print(1)', 0],
    ['a forged packet', "import os\nos.write(3, b'x' * 100)\nos._exit(0)", 0])
{
    my ($name, $code, $status) = @$row;
    $kernel = Retort::Kernel->start;
    $kernel->begin($code);
    my $got = eval { $kernel->collect; 1 } || $@;
    my $end = $kernel->end;
    ok(defined $status ? $end >> 8 == $status : $end != 0,
        "$name ends the kernel and nothing else") or diag "$got $end";
}

# a child that outlives the kernel does not hold the channel open

$kernel = Retort::Kernel->start;
$kernel->begin(<<'END');
import os, time
if os.fork() == 0:
    time.sleep(1000)
os._exit(0)
END
is($kernel->collect, undef, 'a forked child does not hold the channel');
$kernel->end;

$kernel = Retort::Kernel->start;
$kernel->begin("import os, subprocess\n"
    . "subprocess.Popen(['sleep', '1000'], close_fds=False)\nos._exit(0)");
is($kernel->collect, undef, 'and neither does a program');
$kernel->end;

# what is replaced

$kernel = Retort::Kernel->start;
is_deeply(brief("import sys, builtins\nsys.stdout = None\nprint(1)\n2"),
    ['result:2', 'ok'], 'without sys.stdout');
is_deeply(brief("sys.stdout = sys.__stdout__\nprint(3)"), ["1:3\n", 'ok'],
    'which can be had back');
is_deeply(brief("sys.stdout.close()\n4"), ['result:4', 'ok'],
    'sys.stdout closed');
is_deeply(brief("builtins.print = builtins.repr = None\n5"),
    ["error:TypeError: 'NoneType' object is not callable\n", 'failed'],
    'builtins broken');
is_deeply(brief("del builtins.print, builtins.repr\nimport _io"), ['ok'],
    'is a tenant\'s own trouble');
$kernel->end;
$kernel = Retort::Kernel->start;
is_deeply(brief("import os, sys\nold = os.environ\nos.environ = None\n6", env => { A => 'b' }),
    ['result:6', 'ok'], 'os.environ replaced');
is_deeply(brief('7', env => { A => 'b' }), ['result:7', 'ok'],
    'and in the run after');
is_deeply(brief("1/0")->[-1], 'failed', 'an error is told without it');
is_deeply(brief("sys.displayhook = None\n9"),
    ["error:TypeError: 'NoneType' object is not callable\n", 'failed'],
    'the display hook taken away');
is_deeply(brief('10'), ['result:10', 'ok'], 'is back in the next run');
is_deeply(brief("sys.modules.clear()\n11"), ['result:11', 'ok'],
    'sys.modules emptied');
is(brief("get_ipython().user_ns.clear()\n12")->[-1], 'failed',
    'the namespace emptied');
$kernel->end;

# what can be found

$kernel = Retort::Kernel->start(imports => ['numpy']);
is_deeply(brief(<<'END'), ["1:[]\n", 'ok'],
import gc, socket, io
print([o for o in gc.get_objects()
       if isinstance(o, socket.socket)
       or isinstance(o, io.FileIO) and not o.closed and o.fileno() > 2])
END
    'no Python object holds a descriptor of ours');
is_deeply(brief("import threading; threading.enumerate().__len__()"),
    ['result:1', 'ok'], 'there is one thread');
is_deeply(brief("import os\nsorted(os.listdir('/proc/self/task')).__len__()"),
    ['result:1', 'ok'], 'also for the kernel');
is_deeply(brief("import signal\n[s for s in signal.valid_signals()\n"
    . " if signal.getsignal(s) not in (signal.SIG_DFL, None)\n"
    . " and s not in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)]"),
    ['result:[]', 'ok'], 'signals are as in any Python');
is_deeply(brief("import ctypes\nctypes.CDLL(None).prctl(4, 1, 0, 0, 0)\n"
    . "open('/proc/self/environ').read()"), ["result:''", 'ok'],
    'the environment block is empty, also for who makes it readable');
is_deeply(brief("print(*sorted(n for n in globals() if n[0] != '_'))"),
    ["1:In Out ctypes exit gc get_ipython io os quit signal socket threading\n", 'ok'],
    'the namespace is IPython\'s and no more');

# a result or a display without measure

is_deeply([map { substr $_, 0, 40 } @{ brief("'z' * 50_000_000") }],
    ["result:'" . 'z' x 32, 'ok'], 'a result of fifty megabytes passes');
my $events = $kernel->run("display({'text/plain': 'a', 'image/png': b'b',\n"
    . "'x' * 300: b'c'}, raw=True)");
is(Retort::Kernel::brief($events)->[0],
    "error:ValueError: a form that is too large\n", 'a bad form is an error');
$events = $kernel->run("display({'a/%d' % i: b'' for i in range(99)}, "
    . 'raw=True)');
is($events->[0][3], 32, 'a display has thirty-two forms at most');
is_deeply(brief('1'), ['result:1', 'ok'], 'the session lives on');

is($kernel->end, 0, 'the kernel ends with its channel');
done_testing();
