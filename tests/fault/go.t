#!/usr/bin/perl

# Before the broker's "go" a new sandbox is a process that waits: its cgroups or
# its ids may be missing yet.  Here the map writer stands still, so that it waits
# for as long as it is looked at.  Whatever else than "go" comes to it, it ends,
# and runs nothing.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use POSIX ();
use Retort::Service;
use Retort::Strace;
use Socket qw(SHUT_WR);
use Test::More;

use constant { PIDFD_OPEN => 434, PIDFD_GETFD => 438 };     # on every architecture

plan skip_all => 'strace is missing' unless Retort::Strace->here;

my $s = Retort::Service->new(profiles => { default => { import => '', ready => '0' } });
my $mapd = $s->process('retort-mapd') or die 'no map writer';


sub sockets {
    return map { $_->[0] => $_->[1] } grep { ($_->[1] // '') =~ /^socket:/ }
        map { [m{(\d+)$}, readlink $_] } glob "/proc/$s->{broker}/fd/*";
}


# pid 1 of the sandbox that is being made, as the host numbers it
sub waiting {
    my ($pid) = grep { Retort::Service::slurp("/proc/$_/status") =~ /^NSpid:\s+\d+\s+1$/m }
        $s->children($s->{broker});

    return $pid;
}


sub quiet {
    return $s->until_true(sub { !$s->inside && !$s->boxes && !waiting() });
}


# the broker's end of its channel, whose name was not there before
sub channel {
    my (%before) = @_;
    my %now = sockets();
    my ($number) = sort { $a <=> $b } grep { ($before{$_} // '') ne $now{$_} } keys %now;
    my $broker = syscall PIDFD_OPEN, $s->{broker}, 0;
    my $fd = syscall PIDFD_GETFD, $broker, $number, 0;

    POSIX::close($broker);
    open my $channel, '+<&=', $fd or die "channel: $!";

    return $channel;
}


# a run that is asked for, until its sandbox waits for "go"; then $meanwhile
sub run_while {
    my ($meanwhile) = @_;

    ok(quiet(), 'those before are over');

    my %before = sockets();

    kill 'STOP', $mapd;
    pipe my $read, my $write or die;

    my $asks = fork // die;

    if ($asks == 0) {
        my $r = $s->run('print("ran")');

        print {$write} join ' ', $r->{http}, $r->{stdout} // '', $r->{error}{message} // '';
        close $write;
        POSIX::_exit(0);
    }

    close $write;

    my $child = $s->until_true(\&waiting) // die 'nobody waits';
    $meanwhile->($child, %before);
    kill 'CONT', $mapd;
    local $/;

    my $said = <$read>;

    waitpid $asks, 0;

    return $said;
}


sub ended {
    my ($child) = @_;

    ok($s->until_true(sub { !-e "/proc/$child" }), '... it ends, while the map writer stands still');
    return;
}


sub entered {
    my ($child) = @_;

    return scalar grep { Retort::Service::slurp("$_/cgroup.procs") =~ /^\Q$child\E$/m } $s->boxes;
}


sub refused {
    my ($what, $said) = @_;

    unlike($said, qr/ran/, "$what: no sandbox runs");
    like($said, qr/^5\d\d .*step "kernel"/s, '... the answer is a refusal, and names the step');
    ok(quiet(), '... nothing is left');
    is($s->run('print("ran")')->{stdout}, "ran\n", '... and the next one works');

    return;
}


like(run_while(sub {
    my ($child) = @_;

    is(entered($child), 0, 'a sandbox that waits is in none of its cgroups');
    like(Retort::Service::slurp("/proc/$child/uid_map"), qr/^\s*$/, '... and is nobody yet');
}), qr/^200 ran/, 'once its ids are mapped it has its "go", and runs');
ok(quiet(), '... and is over');

my $box = $s->session;
my @inside = $s->inside;

cmp_ok(scalar @inside, '>=', 2, 'a sandbox that runs has pid 1 and a kernel');
is_deeply([map { entered($_) } @inside], [(scalar $s->boxes) x @inside], '... each in all of its cgroups');
$s->json('DELETE', "/v1/sandboxes/$box");
ok(quiet(), '... and nothing is left');

refused('what should be "go" cannot be read', run_while(sub {
    my ($child) = @_;
    my $strace = Retort::Strace->attach($s, $child, '/dev/null', '-e', 'trace=recvmsg',
        '-e', 'inject=recvmsg:error=EIO:when=1');

    ended($child);

    return $strace->detach;
}));

# another word of the broker's, and one that there is not
for (4, 4711) {
    my $op = $_;

    refused("another word than \"go\", $op", run_while(sub {
        my ($child, %before) = @_;

        is(syswrite(channel(%before), pack 'S S l', $op, 0, 0), 8, "the word is $op");
        ended($child);
    }));
}

refused('half a "go"', run_while(sub {
    my ($child, %before) = @_;

    is(syswrite(channel(%before), pack 'S', 2), 2, 'two bytes of eight');
    ended($child);
}));

refused('the end of what could say "go"', run_while(sub {
    my ($child, %before) = @_;

    ok(shutdown(channel(%before), SHUT_WR), 'the channel ends');
    ended($child);
}));

$s->end;
done_testing;
