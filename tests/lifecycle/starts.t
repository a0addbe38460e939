#!/usr/bin/perl

# Sandboxes that come and go at full rate leave nothing: not in the processes of
# the service, and not in the kernel.  After each of five rounds, at rest, all
# that could grow is counted; what does from the first to the last, by the number
# of starts between, is a failure.  STARTS=10000 for longer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use POSIX ();
use Retort::Service;
use Test::More;
use Time::HiRes qw(time);

use constant { ROUNDS => 5, CLIENTS => 3 };

my $starts = $ENV{STARTS} // 600;
my $each = int($starts / ROUNDS / CLIENTS);

# a sandbox has at least one of each
my @caches = qw(pid_namespace net_namespace user_namespace uts_namespace nsproxy mnt_cache
    mem_cgroup task_struct mm_struct sock_inode_cache pid);

# of whole kB that the kernel has: what others do at the same time is in there
my @kernel = qw(SUnreclaim Percpu KernelStack PageTables);

my $s = Retort::Service->new(lean => 1, profiles => { default => {
    import => '', ready => '2', renew => '0 0' } });


# how many of them end well, and how long the slowest of the half took
sub load {
    my @pids;

    pipe my $read, my $write or die;

    for (1 .. CLIENTS) {
        push @pids, my $pid = fork // die;
        next if $pid;

        for (1 .. $each) {
            my $from = time;
            my $r = $s->run('1');

            syswrite $write, sprintf "%s %.1f\n", $r->{status} // "$r->{http} $r->{error}{code}", 1000 * (time - $from);
        }

        POSIX::_exit(0);
    }

    close $write;

    my @said = <$read>;
    my @ms = sort { $a <=> $b } map {/ ([\d.]+)$/} @said;

    diag($_) for grep { !/^ok / } @said;

    waitpid $_, 0 for @pids;

    return (scalar(grep {/^ok /} @said), $ms[@ms / 2], $ms[@ms * 0.99]);
}


sub processes {
    my %inside = map { $_ => 1 } $s->inside;

    return $s->{broker}, $s->nginx_pid, $s->children($s->nginx_pid), grep { !$inside{$_} } $s->children($s->{broker});
}


sub of_process {
    my ($pid, $n) = @_;
    my ($name) = Retort::Service::slurp("/proc/$pid/cmdline") =~ /^([^\0:]+)/;
    my $status = Retort::Service::slurp("/proc/$pid/status");

    $n->{"$name: descriptors"} += () = glob "/proc/$pid/fd/*";
    # the others have the machine's
    $n->{"$name: mounts"} += () = Retort::Service::slurp("/proc/$pid/mounts") =~ /\n/g if $name eq 'retort-kernel';
    $n->{"$name: threads"} += $1 if $status =~ /^Threads:\s+(\d+)/m;
    $n->{"$name: memory"} += $1 if $status =~ /^RssAnon:\s+(\d+)/m;

    return;
}


# at rest: nothing inside but what stands ready
sub sample {
    my %n;

    $s->until_true(sub { $s->sandboxes <= 2 && $s->inside <= 4 }) or fail('it comes to rest');
    of_process($_, \%n) for processes();
    $n{cgroups} = () = $s->boxes;
    $n{mounts} = () = $s->mounted;

    my $slabs = Retort::Service::slurp('/proc/slabinfo');
    my $memory = Retort::Service::slurp('/proc/meminfo');

    for my $cache (@caches) {
        $n{"kernel: $cache"} = $1 if $slabs =~ /^$cache\s+(\d+)/m;
    }

    for my $what (@kernel) {
        $n{"kernel: $what kB"} = $1 if $memory =~ /^$what:\s+(\d+)/m;
    }

    return \%n;
}


# what so many starts may leave: less than one thing of a kind each
sub may {
    my ($what, $n) = @_;

    # results are kept, 8192 of them
    return 2048 + 8 * ($n < 8192 ? $n : 8192) if $what eq 'retort-front: memory';
    return 1024 + 0.1 * $n if $what =~ /: memory$/;
    return 16384 + 4 * $n if $what =~ / kB$/;
    return 200 + 0.3 * $n if $what =~ /^kernel/;
    return 4;
}


my (@samples, %tell);

for my $round (1 .. ROUNDS) {
    my ($good, $half, $most) = load();

    is($good, $each * CLIENTS, "round $round: each of $good sandboxes runs, and goes");
    diag("round $round: half of them within $half ms, 99 of 100 within $most ms") if $ENV{STARTS};
    push @samples, sample();
}

my $between = $each * CLIENTS * (ROUNDS - 1);

for my $what (sort keys %{ $samples[0] }) {
    my ($first, $last) = map { $_->{$what} // 0 } @samples[0, -1];

    # who is busy beside us gives back what it has
    for (1 .. 100) {
        last if $last - $first <= may($what, $between);
        select undef, undef, undef, 0.1;
        $last = sample()->{$what} // 0;
    }

    cmp_ok($last - $first, '<=', may($what, $between), "$what: not more after $between starts");
    diag(join ' ', "$what:", map { $_->{$what} // 0 } @samples) if $ENV{STARTS};
}

for my $what (qw(retort-broker retort-mapd retort-launch retort-kernel retort-front)) {
    ok($samples[-1]{"$what: descriptors"}, "$what is among them");
}

$s->end;
done_testing;
