#!/usr/bin/perl

# Output in the order in which the code made it, standard input, environment.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Kernel;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel = Retort::Kernel->start;


sub brief { return Retort::Kernel::brief($kernel->run(@_)) }


is_deeply(brief(<<'END'), ["1:a\n", "|1:b\n", "1:c\n", "|1:d\n", "2:e\n",
import os, sys, ctypes
libc = ctypes.CDLL(None)
print('a')
os.system('echo b')
print('c')
_ = os.write(1, b'd\n')
print('e', file=sys.stderr)
os.system('echo f >&2')
display(1)
_ = libc.puts(b'g')
print('h')
os.system('echo i')
_ = libc.printf(b'j')
END
    "|2:f\n", 'show:1', "|1:g\n", "1:h\n", "|1:i\nj", 'ok'],
    'print, programs, C code and displays keep their order');

is_deeply(brief("os.system('printf x; exit 3')"), ['|1:x', 'result:768', 'ok'],
    'what a program wrote comes before the result');

is_deeply(brief("import subprocess\nprint('a', end='')\n"
    . "subprocess.run(['echo', 'b'])\nNone"), ["|1:b\n", '1:a', 'ok'],
    'a line not ended waits, as with any pipe');

is_deeply(brief("print('a', end='', flush=True)\nos.system('echo b')\nNone"),
    ['1:a', "|1:b\n", 'ok'], 'flush=True does not wait');

# sizes

my $events = $kernel->run("print('x' * 1_000_000)");
is(length $events->[0][2], 1_000_001, 'a megabyte in one line is whole');
is($events->[0][2] =~ tr/x//, 1_000_000, 'and right');

$events = $kernel->run("for i in range(20000): print(i)");
is($events->[0][2], join('', map { "$_\n" } 0 .. 19999),
    'twenty thousand lines are whole and in order');

my $grown = <<'END';
import resource
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
line = 'y' * 99999
for i in range(1000): print(line)
print(peak() - before < 4096, file=sys.stderr)
END
$events = $kernel->run($grown);
is(length($events->[0][2]), 100_000_000, 'a hundred megabytes pass');
is($events->[1][2], "True\n", 'and are not kept');

is(length $kernel->run("sys.stdout.buffer.write(b'\\xff' * 40000);")
    ->[0][2], 120_000, 'forty thousand invalid bytes are all replaced');

# a character may be cut by any border there is: of a block, a packet, a write
$events = $kernel->run(<<'END');
text = ''.join('a' * (n % 37) + 'é€😀'[n % 3] * (n % 5) for n in range(9000))
data = text.encode()
sizes = [1, 2, 31, 32, 33, 4095, 32767, 32768, 32769, 65537]
at = n = 0
while at < len(data):
    _ = sys.stdout.buffer.write(data[at:at + sizes[n % 10]])
    at += sizes[n % 10]
    n += 1
END
my $text = join '', map { 'a' x ($_ % 37)
    . ("\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80")[$_ % 3] x ($_ % 5) }
    0 .. 8999;
ok($events->[0][2] eq $text, 'characters are whole, wherever they are cut');

my $broken = substr($text, 0, 40000) . "\xff" . substr($text, 40000) . "\xc3";
$events = $kernel->run('sys.stdout.buffer.write(sys.stdin.buffer.read());',
    stdin => $broken);
utf8::decode($text);
my $back = $events->[0][2];
utf8::decode($back);
is(length $back, length($text) + 2, 'a broken one costs no other')
    or diag(length $broken);
is($back =~ tr/\x{fffd}//, 2, 'and is replaced alone');

# threads

is_deeply(brief(<<'END'), ["1:0\n1\n2\n3\n", 'ok'],
import threading
def work(i): print(i)
for i in range(4):
    t = threading.Thread(target=work, args=(i,)); t.start(); t.join()
END
    'threads print into the run');

$events = $kernel->run(<<'END');
def work(c):
    for i in range(200): print(c * 999)
ts = [threading.Thread(target=work, args=(c,)) for c in 'abcd']
for t in ts: t.start()
for t in ts: t.join()
END
is(length($events->[0][2] =~ s/\n//gr), 4 * 200 * 999,
    'four threads at once lose nothing');

$kernel->run(<<'END');
go = threading.Event()
def late():
    go.wait(); print('late'); done.set()
done = threading.Event()
threading.Thread(target=late).start()
END
is_deeply(brief("go.set(); done.wait(); print('now')"), ["1:late\nnow\n", 'ok'],
    'a thread of an earlier run prints into the present one');

is_deeply(brief(<<'END'), ["|1:child\n", "1:True\n", 'ok'],
pid = os.fork()
if pid == 0:
    print('child', flush=True)
    os._exit(0)
print(os.waitpid(pid, 0)[1] == 0)
END
    'a forked child writes to the pipe');

is_deeply(brief(<<'END'), ['result:[0, 1, 4]', 'ok'],
import multiprocessing
def square(x): return x * x
with multiprocessing.Pool(2) as pool: v = pool.map(square, range(3))
v
END
    'a pool of processes works');

$events = brief("if os.fork() == 0: raise SystemExit\nos.wait()[1] >> 8");
is_deeply($events->[-2], 'result:1', 'a fork that leaves the cell exits');
is_deeply(brief('1'), ['result:1', 'ok'], 'and is never taken for the kernel');

# standard input

is_deeply(brief("print(input('? ')); print(input())",
    stdin => "one\ntwo\nthree"), ["1:? one\ntwo\n", 'ok'],
    'input() reads the run\'s standard input');
is_deeply(brief('input()'), ["error:EOFError: input() has nothing to read: "
    . "this run's standard input is empty or used up\n", 'failed'],
    'which the next run has not');
is_deeply(brief('sys.stdin.read()', stdin => "a\n\xc3\xa9\n"),
    ["result:'a\\n\xc3\xa9\\n'", 'ok'], 'sys.stdin is text');
is_deeply(brief('sys.stdin.read()'), ["result:''", 'ok'], 'and then empty');
is_deeply(brief('!cat', stdin => "in\n"), ["|1:in\n", 'ok'],
    'a program reads it too');
is_deeply(brief('!cat'), ['ok'], 'and finds an end without it');
is_deeply(brief('len(sys.stdin.read())', stdin => 'z' x 3_000_000),
    ['result:3000000', 'ok'], 'three megabytes of input');
is_deeply(brief("[l for l in sys.stdin]", stdin => "a\nb\n"),
    ["result:['a\\n', 'b\\n']", 'ok'], 'lines can be looped over');

# environment

my %env = (env => { RETORT_T => 'v=1', HOME => '/tmp' });
is_deeply(brief("os.environ['RETORT_T'], os.path.expanduser('~')", %env),
    ["result:('v=1', '/tmp')", 'ok'], 'a run\'s variables are there');
is_deeply(brief('!echo $RETORT_T $HOME', %env), ["|1:v=1 /tmp\n", 'ok'],
    'for programs as well');
is_deeply(brief('!echo "[$RETORT_T]" $HOME'), ["|1:[] /workspace\n", 'ok'],
    'and gone in the next run');
is_deeply(brief("libc.getenv.restype = ctypes.c_char_p\n"
    . "libc.getenv(b'RETORT_T'), os.environ.get('RETORT_T')"),
    ['result:(None, None)', 'ok'], 'for C code as well');

is($kernel->end, 0, 'the kernel ends with its channel');
done_testing();
