#!/usr/bin/perl

# A host that takes the processors away for some seconds costs no session: what
# has to die and to rise then has the time for it, and what was asked for too
# late meets nobody.

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

# ---- a front dies, and its successor finds a session that does not stir ----

sleep 0.5;
kill 'STOP', $s->inside;
kill 'KILL', $s->process('retort-front');
$s->until_true(sub { $s->log =~ /\Q$box\E found again/ }) or fail('it is found');
sleep 1;                                # its interruption is on its way by now

my ($pid1) = grep { Retort::Service::slurp("/proc/$_/status") =~ /^NSpid:.*\s1$/m } $s->inside;

kill 'CONT', grep { $_ != $pid1 } $s->inside;
$pid = fork // die "fork: $!\n";

if ($pid == 0) {
    sleep 1.5;                          # and meets the next run
    kill 'CONT', $pid1;
    POSIX::_exit(0);
}

$r = here('import time; time.sleep(3); print(x)', timeout => 20);
waitpid $pid, 0;
is("$r->{status} $r->{state}", 'ok kept', 'the next run of it is not interrupted for the one that was')
    or diag(explain $r);
is($r->{stdout}, "7\n", '... and has all that there was');

$s->end;
done_testing;
