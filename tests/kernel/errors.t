#!/usr/bin/perl

# What an error says: short, and in full.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Kernel;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel = Retort::Kernel->start;


sub failure {
    my ($code) = @_;
    my ($error) = grep { $_->[0] eq 'error' } @{ $kernel->run($code) };
    return @{ $error || [] }[1 .. 4];
}


my ($name, $message, $short, $full) = failure('x = (1');
is($name, 'SyntaxError', 'a syntax error has its name');
is($message, 'incomplete input', 'and a message without a place');
is($short, "  Cell In[1], line 1\n    x = (1\n          ^\n"
    . "SyntaxError: incomplete input\n", 'its text shows the place');
is($full, $short, 'and is all there is');

(undef, undef, $short) = failure("a = 1\nb = = 2\n");
like($short, qr/^  Cell In\[2\], line 2\n    b = = 2\n        \^\n/,
    'the line is the user\'s own');

(undef, undef, $short) = failure("\n\n%precision 2\nb = = 2\n");
like($short, qr/Cell In\[3\], line 4\n/, 'also behind blank lines and magics');

(undef, undef, $short) = failure("print(1)\nreturn");
like($short, qr/line 2\n    return\n.*'return' outside function\n\z/s,
    'an error that the compiler finds');

is($kernel->run("def f():\n    1/0")->[-1][1], 0, 'a function may be wrong');
($name, $message, $short, $full) = failure('f()');
is($name, 'ZeroDivisionError', 'an error has its name');
is($message, 'division by zero', 'its message');
is($short, "ZeroDivisionError: division by zero\n", 'a short text');
like($full, qr/Traceback \(most recent call last\)/, 'and a traceback');
like($full, qr/Cell In\[6\], line 1\n----> 1 f\(\)\n/, 'that names the cell');
like($full, qr/Cell In\[5\], line 2, in f\(\)\n/, 'and the earlier one');
unlike($full, qr/\e/, 'without colour');
unlike($full, qr/retort|asyncio|interactiveshell/, 'without our own frames');

(undef, undef, undef, $full) = failure(
    "import asyncio\nasync def g():\n    await asyncio.sleep(0)\n    1/0\n"
    . 'await g()');
like($full, qr/line 4, in g\(\)/, 'behind await as well');
unlike($full, qr/run_until_complete/, 'without the event loop');

(undef, undef, undef, $full) = failure(
    "try:\n    1/0\nexcept Exception as e:\n    raise KeyError('k') from e");
like($full, qr/ZeroDivisionError.*direct cause.*KeyError: 'k'/s,
    'a chain is told whole');

(undef, undef, $short, $full) = failure(
    "def r(n): return r(n + 1)\nr(0)");
is($short, "RecursionError: maximum recursion depth exceeded\n",
    'endless recursion is an error');
cmp_ok(length $full, '<', 20_000, 'whose traceback is short');

($name, $message) = failure('raise ValueError("x" * 10_000_000)');
like($message, qr/^x+\n\[.* of [\d,]+ bytes cut .*\]\nx+$/, 'a message of megabytes keeps its ends');
cmp_ok(length $message, '<', 262_144, 'and is cut in between');

($name, $message, $short) = failure(<<'END');
class Loop(Exception):
    def __str__(self): raise KeyboardInterrupt
raise Loop
END
is("$name $short", "Loop Loop\n", 'an error that cannot be told has a name');

($name) = failure('import json; json.loads("{")');
is($name, 'JSONDecodeError', 'an error in a library');

my $events = Retort::Kernel::brief($kernel->run(
    "from IPython import get_ipython\nget_ipython().run_cell('1/0')\nprint(1)"
    ));
is_deeply([grep { /^(?:1|error)/ } @$events],
    ["error:ZeroDivisionError: division by zero\n", "1:1\n"],
    'an error told in the middle does not end the cell');
is($events->[-1], 'failed', 'but fails the run');

$events = Retort::Kernel::brief($kernel->run('%tb'));
isnt($events->[-1], 'gone', '%tb after an error');

is_deeply(Retort::Kernel::brief($kernel->run('import sys
sys._getframe().f_back is None')), ['result:True', 'ok'],
    'no frame lies below a cell');
is_deeply(Retort::Kernel::brief($kernel->run('1 + 1')), ['result:2', 'ok'],
    'the session lives on');

is($kernel->end, 0, 'the kernel ends with its channel');
done_testing();
