#!/usr/bin/perl

# SIGINT ends the cell and keeps the session.

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


# begins a run, waits until it has said "go", interrupts it

sub interrupted {
    my ($code, %opt) = @_;
    $kernel->begin($code, %opt);

    until (grep { defined $_->[2] && $_->[2] =~ /go/ } @{ $kernel->{events} }) {
        if ($opt{bash}) {
            select undef, undef, undef, 0.02;
            $kernel->drain;
        }
        else { $kernel->one_event($kernel->message) }
    }

    # a signal between a fork of bash's and its exec is for nobody
    select undef, undef, undef, $opt{wait} || ($opt{bash} ? 0.4 : 0.05);
    $kernel->interrupt;
    return Retort::Kernel::brief($kernel->collect);
}


my @stopped = ("1:go\n", "error:KeyboardInterrupt\n", 'failed');
my $go = "print('go', flush=True)\n";

is_deeply(brief('x = 5'), ['ok'], 'a session');
is_deeply(interrupted("${go}while True: pass"), \@stopped, 'an endless loop');
is_deeply(interrupted("import time\n${go}time.sleep(1000)"), \@stopped,
    'a sleep');
is_deeply(interrupted("import asyncio\n${go}await asyncio.sleep(1000)"),
    \@stopped, 'an await');
is_deeply(brief('await asyncio.sleep(0, 3)'), ['result:3', 'ok'],
    'await works afterwards');
is_deeply(interrupted("${go}!sleep 1000"), \@stopped, 'a program');
is_deeply(interrupted("import threading\n${go}threading.Event().wait()"),
    \@stopped, 'a lock');
is_deeply(interrupted("${go}for i in range(10**9): print('y' * 1000)")->[-2],
    "error:KeyboardInterrupt\n", 'a flood of output');

is_deeply(interrupted(<<"END"), ["1:go\n", "error:E\n", 'failed'],
class E(Exception):
    def __str__(self):
        print('go', flush=True)
        while True: pass
raise E
END
    'an error whose text never ends');

is_deeply(interrupted(<<"END"), \@stopped,
class R:
    def __repr__(self):
        print('go', flush=True)
        while True: pass
R()
END
    'a result whose text never ends');

is_deeply(interrupted(<<"END"), ["1:go\nsaved\n", 'ok'],
import time
try:
    print('go', flush=True); time.sleep(1000)
except KeyboardInterrupt:
    print('saved')
END
    'a cell may catch it');

is_deeply(interrupted("echo go; sleep 1000", bash => 1),
    ["|1:go\n", 'failed 130'], 'a bash cell');
is_deeply(interrupted("trap 'echo caught; exit 7' INT; echo go; "
    . "while :; do sleep 0.1; done", bash => 1),
    ["|1:go\ncaught\n", 'failed 7'], 'which may trap it');

# in the very instant of the start

my $ended = 0;

local $SIG{ALRM} = sub { $kernel->interrupt };

for (1 .. 300) {
    $kernel->begin('while True: pass', env => { A => 'b' }, stdin => 'c');
    $kernel->interrupt;

    # so that this ends at all: a missed one is counted, and is no success
    my $before = $ended;
    alarm 10;
    $ended += Retort::Kernel::brief($kernel->collect)->[-1] eq 'failed';

    if (alarm(0) == 0) {
        $ended = $before;
        last;
    }
}

is($ended, 300, 'one that comes before the first step ends the cell too');
is_deeply(brief("import os; os.environ.get('A')"), ['ok'],
    'and leaves nothing behind');

$kernel->interrupt;
select undef, undef, undef, 0.1;
is_deeply(brief('x'), ['result:5', 'ok'], 'one that comes too late is nothing');

is_deeply(brief("import signal\n"
    . "signal.getsignal(signal.SIGINT) is signal.default_int_handler"),
    ['result:True', 'ok'], 'the handler is Python\'s own');

is($kernel->end, 0, 'the kernel ends with its channel');

# as a shell's background jobs have it

{
    local $SIG{INT} = 'IGNORE';
    $kernel = Retort::Kernel->start;
}

is_deeply(interrupted($go . "import time; time.sleep(30)"), \@stopped,
    'a kernel that was started with SIGINT ignored hears it');
$kernel->end;
done_testing();
