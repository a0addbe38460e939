#!/usr/bin/perl

# Every system call that the broker and the map writer make for a sandbox fails
# once, as seal.t does it for those that seal it.  Both are linked with fail.c
# here, which makes them fail.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Copy qw(copy);
use Retort::Service;
use Test::More;

my $top = $Retort::Service::TOP;
my @wrapped = qw(__openat_2 openat read write mkdirat socketpair pipe2 fcntl epoll_ctl sendmsg);

# what they do for a sandbox until pid 1 has its "go", and how often: exactly, or
# at least, by how many cgroups there are; then until a run succeeds
my @calls = (
    ['retort-broker', 'socketpair', 2], ['retort-broker', 'pipe2', 2],
    ['retort-broker', 'epoll_ctl', 2], ['retort-broker', 'fcntl', 2],
    ['retort-broker', 'sendmsg', 3], ['retort-broker', 'mkdirat', 1, 'or more'],
    ['retort-broker', 'openat', 4, 'or more'], ['retort-broker', 'write', 4, 'or more'],
    ['retort-mapd', 'openat', 4], ['retort-mapd', 'read', 1], ['retort-mapd', 'write', 2],
    ['retort-mapd', 'fcntl', 1],
);

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


sub fault {
    my ($who, $call, $number) = @_;
    my $before = length $s->log;

    # what is told of the run before is no call of this one
    $s->until_true(sub { !$s->inside && !$s->boxes }) or return fail('the run before is over');
    Retort::Service::write_file("$plan.new", "$who $call $number", 0644);
    rename "$plan.new", $plan or die $!;

    my $r = run_once();

    unlink $plan;
    return 0 if ($r->{stdout} // '') eq "ran\n";

    unlike($r->{stdout} // '', qr/ran/, "$who: $call, number $number fails: no sandbox runs");
    cmp_ok($r->{http}, '>=', 500, '... the answer is a refusal');
    like($r->{error}{message} // '', qr/"(?:cgroup|cgroup attach|channel|id map|go)"/,
        '... it names the step') or diag(explain($r), substr $s->log, $before);
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

$s->end;
done_testing;
