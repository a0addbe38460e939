#!/usr/bin/perl

# Between a request and its answer nobody sleeps, and nobody looks again and
# again whether something has happened: every wait in every process of the
# service, seen by strace, ends because of what it waits for.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;
use Time::HiRes qw(time);

# a container takes its time; YIELDS: msec, of the broker's box.c
use constant { RUNS => Retort::Service::docker() ? 4 : 20, LOOKS => 4, YIELDS => 20 };

plan skip_all => 'strace is missing' unless -x '/usr/bin/strace';

my $calls = join ',', qw(nanosleep clock_nanosleep poll ppoll epoll_wait
    epoll_pwait select pselect6 futex rt_sigtimedwait sched_yield);


# strace on these and on what they start; each of them writes a file of its own
sub attach {
    my ($s, $to, @pids) = @_;
    my $out = "$s->{dir}/strace";
    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>', $out;
        exec '/usr/bin/strace', '-ff', '-ttt', '-T', '-e', "trace=$calls",
            '-o', $to, map({ ('-p', $_) } @pids) or POSIX::_exit(127);
    }

    $s->until_true(sub {
        my $said = Retort::Service::slurp($out);
        return @pids == grep { $said =~ /Process $_ attached/ } @pids;
    }) or die 'strace: ' . Retort::Service::slurp($out);

    return $pid;
}


# calls of one process: [when it began, when it ended, name, arguments, result]
sub calls_of {
    my ($file) = @_;

    return map {
        /^([\d.]+) (\w+)\((.*)\) += (.*) <([\d.]+)>$/
            ? [$1, $1 + $5, $2, $3, $4] : ();
    } split /\n/, Retort::Service::slurp($file);
}


sub is_sleep { $_[0][2] =~ /sleep|sched_yield/ }


# a look is a wait of no time; it may find nothing
sub is_look {
    my ($name, $args) = @{ $_[0] }[2, 3];

    return $name =~ /^(?:poll|epoll_p?wait)$/ && $args =~ /, 0(?:, NULL, 8)?$/
        || $args =~ /\{tv_sec=0, tv_n?u?sec=0\}/ ? 1 : 0;
}


sub is_vain {
    my ($c) = @_;

    return !is_look($c) && ($c->[4] =~ /ETIMEDOUT|EAGAIN/ && $c->[2] ne 'futex'
        || $c->[4] =~ /ETIMEDOUT/ || $c->[4] =~ /^0\b/ && $c->[2] ne 'futex');
}


sub is_wait {
    my ($c) = @_;

    return !is_look($c) && ($c->[2] ne 'futex' || $c->[3] =~ /FUTEX_WAIT/);
}


# Where no core is free, the broker's wait ends as the time is over in which a
# sandbox that is made leaves them to others.  There is one for each.
sub without_yield {
    my (@calls) = @_;

    for my $i (0 .. $#calls) {
        my ($name, $args, $result) = @{ $calls[$i] }[2 .. 4];

        next unless $name eq 'epoll_wait' && $result =~ /^0\b/;
        next unless $args =~ /, (\d+)$/ && $1 > 0 && $1 <= YIELDS;
        splice @calls, $i, 1;
        last;
    }

    return @calls;
}


sub text { join ' ', @{ $_[0] }[2, 3, 4] }


# how often somebody looks at most before it waits for what it wants
sub in_a_row {
    my ($most, $n) = (0, 0);

    for my $c (@_) {
        $n = is_wait($c) ? 0 : $n + is_look($c);
        $most = $n if $n > $most;
    }

    return $most;
}


# who waited in vain between the beginning and the end of a run, who slept, and
# how often each looked at most; $maker makes a sandbox for each
sub judge {
    my ($files, $maker, @runs) = @_;
    my (@bad, $looks);

    for my $file (@$files) {
        my @calls = calls_of($file);

        for my $run (@runs) {
            my @in = grep { $_->[0] >= $run->[0] && $_->[1] <= $run->[1] } @calls;
            my $n = in_a_row(@in);

            @in = without_yield(@in) if $file eq $maker;
            $looks = $n if $n > ($looks // -1);
            push @bad, map { text($_) } grep { is_sleep($_) || is_vain($_) } @in;
        }
    }

    return ($looks, @bad);
}


for my $snapshot (qw(off on)) {
    my $s = Retort::Service->new(profiles => { default => {
        import => '', ready => '0', snapshot => $snapshot } });
    my $id = $s->session;
    my $all = "with snapshots $snapshot";
    my (@inside, %runs);
    my @service = (grep({ defined } map { $s->process($_) }
                        qw(retort-mapd retort-front retort-kernel
                           retort-docker)),
                   $s->{broker}, $s->children($s->nginx_pid));

    cmp_ok(scalar @service, '>=', 5, "$all: there is a service to look at");
    $s->run('x = 1', sandbox_id => $id) for 1 .. 3;

    # with a copy that stands by, the cell's own waits go on behind its answer
    if ($snapshot eq 'off') {
        $s->until_true(sub { (@inside = $s->inside) == 2 });
        is(scalar @inside, 2, "$all: ... and a session's two processes");
    }

    # and the one that has shown that there can be any is gone
    $s->until_true(sub { $s->sandboxes == 1 });

    my %kept = map { $_ => 1 } $s->boxes;
    my $strace = attach($s, "$s->{dir}/calls", @service, @inside);

    for my $kind ('a cell of a session', 'a fresh sandbox') {
        for (1 .. RUNS) {
            # what is left of the one before is swept when nobody asks
            $s->until_true(sub { !grep { !$kept{$_} } $s->boxes });

            my $began = time;
            my $r = $s->run('x = 1', $kind =~ /cell/ ? (sandbox_id => $id) : ());
            push @{ $runs{$kind} }, [$began, time] if $r->{status} eq 'ok';
        }
    }

    # each process goes on by itself when its tracer is gone
    kill 'KILL', $strace;
    waitpid $strace, 0;

    my @files = glob "$s->{dir}/calls.*";
    cmp_ok(scalar(map { calls_of($_) } @files), '>', 4 * RUNS, 'its waits are seen');

    for my $kind (sort keys %runs) {
        my $maker = $kind =~ /fresh/ ? "$s->{dir}/calls.$s->{broker}" : '';
        my ($looks, @bad) = judge(\@files, $maker, @{ $runs{$kind} });

        is(scalar @{ $runs{$kind} }, RUNS, "$kind, $all: all runs end well");
        is_deeply(\@bad, [], '... nobody sleeps or waits for a time to pass');
        cmp_ok($looks, '<=', LOOKS, '... nor looks again and again');
    }

    $s->end;
}

done_testing;
