#!/usr/bin/perl

# A host that takes the processors away for some seconds costs no session: what
# has to die and to rise then has the time for it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use POSIX ();
use Retort::Service;
use Test::More;
use Time::HiRes qw(sleep);

my $s = Retort::Service->new(profiles => {
    default => { ready => 0 },
});
my $box = $s->session;


sub here { $s->run($_[0], sandbox_id => $box, @_[1 .. $#_]) }


# all of the sandbox stands still, from so many seconds on and for so many
sub halted {
    my ($from, $for) = @_;
    my $pid = fork // die "fork: $!\n";

    return $pid if $pid;

    sleep $from;
    my @inside = $s->inside;
    kill 'STOP', @inside;
    sleep $for;
    kill 'CONT', @inside;
    POSIX::_exit(@inside < 2);
}


is(here('x = 7')->{status}, 'ok', 'a session');
sleep 0.5;                              # its snapshot is made

my $pid = halted(1.2, 5);
my $r = here(<<'PY', timeout => 1);
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    time.sleep(1)
PY
waitpid $pid, 0;

is($?, 0, 'its processes stood still when it was to be killed');
is("$r->{status} $r->{state}", 'timeout restored', 'it is killed later, and goes on')
    or diag(explain $r);
is(here('print(x)')->{stdout}, "7\n", 'with what it had');

$s->end;
done_testing;
