#!/usr/bin/perl

# Every system call that the broker and the map writer make for a sandbox fails
# once, as seal.t does it for those that seal it.  Both are linked with fail.c
# here, which makes them fail.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Copy qw(copy);
use POSIX ();
use Retort::Service;
use Test::More;

my $top = $Retort::Service::TOP;
my @wrapped = qw(__openat_2 openat read write mkdirat socketpair pipe2 fcntl epoll_ctl sendmsg
    recvmsg unlinkat poll waitpid close syscall);

# what they do for a sandbox until pid 1 has its "go", and how often: exactly, or
# at least, by how many cgroups there are; then until a run succeeds
my @calls = (
    ['retort-broker', 'socketpair', 2], ['retort-broker', 'pipe2', 2],
    ['retort-broker', 'epoll_ctl', 2], ['retort-broker', 'fcntl', 2],
    ['retort-broker', 'sendmsg', 3], ['retort-broker', 'mkdirat', 1, 'or more'],
    ['retort-broker', 'openat', 4, 'or more'], ['retort-broker', 'write', 4, 'or more'],
    ['retort-mapd', 'openat', 4], ['retort-mapd', 'read', 1], ['retort-mapd', 'write', 2],
    ['retort-mapd', 'fcntl', 1], ['retort-mapd', 'poll', 1],
);

# what is told by others: the number of what the front asked for is 1, the map
# writer's answer is 3
my %told = (2 => 'template', 4 => 'kernel');

# ... and what they do at its end: it is made up for
my @ends = (['unlinkat', 3], ['pidfd_send_signal', 1]);

my $s = Retort::Service->new(stopped => 1, profiles => { default => {
    import => '', ready => '0' } });
my $bin = "$s->{dir}/bin";
my $plan = "$s->{dir}/plan";
my %objects = (
    'retort-broker' => [glob("$top/objs/helper/broker/*.o"),
                        map {"$top/objs/helper/lib/$_.o"} qw(lock counters)],
    'retort-mapd' => [glob("$top/objs/helper/mapd/*.o"), "$top/objs/helper/lib/lock.o"],
);

mkdir $bin;

for my $program (qw(retort-launch retort-fetch retort-docker retort-front)) {
    copy("$top/objs/$program", "$bin/$program") or die "$program: $!";
    chmod 0755, "$bin/$program";
}

for my $program (sort keys %objects) {
    is(system('gcc', '-std=c11', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Werror', '-fPIE', '-pie',
            "-DFAULT_PLAN=\"$plan\"", "-DFAULT_WHO=\"$program\"", '-o', "$bin/$program", "$FindBin::Bin/fail.c",
            @{ $objects{$program} }, map({ "$top/objs/helper/lib/$_.o" } qw(fdpass log)),
            map({ "-Wl,--wrap=$_" } @wrapped), '-lcap-ng', '-lseccomp'),
        0, "a $program that fails is built");
}

my $conf = Retort::Service::slurp("$s->{dir}/retortd.conf");

$conf =~ s/^programs .*/programs $bin/m;
Retort::Service::write_file("$s->{dir}/retortd.conf", $conf);
$s->start_retortd;
ok($s->until_true(sub { $s->log =~ /: ready/ }), 'they serve');
$s->start_nginx;


sub run_once { return $s->run('print("ran")') }


# what is told of the run before is no call of this one
sub plan_for {
    my $quiet = $s->until_true(sub { !$s->inside && !$s->boxes });

    Retort::Service::write_file("$plan.new", "@_", 0644);
    rename "$plan.new", $plan or die $!;

    return $quiet;
}


sub fault {
    my ($who, $call, $number, $steps) = @_;
    my $before = length $s->log;

    $steps //= 'cgroup|cgroup attach|channel|clone|id map|go';

    plan_for($who, $call, $number) or return fail('the run before is over');

    my $r = run_once();

    unlink $plan;
    return 0 if ($r->{stdout} // '') eq "ran\n";

    unlike($r->{stdout} // '', qr/ran/, "$who: $call, number $number fails: no sandbox runs");
    cmp_ok($r->{http}, '>=', 500, '... the answer is a refusal');
    like($r->{error}{message} // '', qr/"(?:$steps)"/, '... it names the step') or diag(explain($r), substr $s->log, $before);
    ok($s->until_true(sub { !$s->inside && !$s->boxes }), '... nothing is left');
    is(run_once()->{stdout}, "ran\n", '... and the next one works');

    return 1;
}


is(run_once()->{stdout}, "ran\n", 'a sandbox runs');

for my $of (@calls) {
    my ($who, $call, $least, $more) = @$of;
    my $n = 0;

    $n++ while ($more || $n < $least) && fault($who, $call, $n + 1);
    cmp_ok($n, '>=', $least, "$who: each of $n $call is missed");
}

fault('retort-broker', 'recvmsg', $_, $told{$_}) or fail("recvmsg, number $_, is missed")
    for sort keys %told;

for my $of (@ends) {
    my ($call, $n) = @$of;

    for my $number (1 .. $n) {
        plan_for('retort-broker', $call, $number);
        is(run_once()->{stdout}, "ran\n", "retort-broker: $call, number $number fails: the run is over");
        ok($s->until_true(sub { !$s->inside && !$s->boxes }), '... and nothing is left');
        unlink $plan;
    }
}

# what cannot be sent for want of a descriptor is its sandbox's end, not the front's
my $front = $s->process('retort-front');

plan_for('retort-broker', 'sendmsg', 4, POSIX::EBADF());
my $r = run_once();
unlink $plan;
like("$r->{http} $r->{error}{message}", qr/^500 .*"channel"/, 'descriptors that cannot be sent: no sandbox runs');
is($s->process('retort-front'), $front, '... and the front is not blamed');
ok($s->until_true(sub { !$s->inside && !$s->boxes }), '... nothing is left');
is(run_once()->{stdout}, "ran\n", '... and the next one works');

# ... and nothing hangs on the answers of these, be they all failures
my $open = () = glob "/proc/$s->{broker}/fd/*";

for my $of (['retort-broker', 'close'], ['retort-broker', 'wait4'], ['retort-mapd', 'close']) {
    my ($who, $call) = @$of;

    plan_for($who, $call, 0);
    is(run_once()->{stdout}, "ran\n", "$who: each $call fails: the run is over");
    ok($s->until_true(sub { !$s->inside && !$s->boxes }), '... nothing is left');
    unlink $plan;
}

is(run_once()->{stdout}, "ran\n", 'after all of them a sandbox runs');
ok($s->until_true(sub { !$s->inside && !$s->boxes && $open >= (() = glob "/proc/$s->{broker}/fd/*") }),
    '... and the broker has no descriptor more than before');

# without a map writer there is no service: who supervises it starts another
plan_for('retort-mapd', 'recvmsg', 1);
$s->json('POST', '/v1/execute', { code => 'print("ran")' }) for 1 .. 2;
ok($s->until_true(sub { waitpid($s->{broker}, 1) != 0 }), 'a map writer that hears nothing ends the service');
delete $s->{broker};
like($s->log, qr/the map writer is gone/, '... which says why');
ok($s->until_true(sub { !$s->inside }), '... and takes every sandbox with it');
unlink $plan;
$s->start_retortd;
ok($s->until_true(sub { (run_once()->{stdout} // '') eq "ran\n" }), 'the next start sweeps, and serves');

$s->end;
done_testing;
