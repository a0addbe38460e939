#!/usr/bin/perl

# Many tenants at once: one rages and all others are served, then all rage and
# one is served.  What is fair is told by shares of what the kernel counted, so
# that a busy machine changes nothing.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(sha256_hex);
use JSON::PP;
use POSIX ();
use Retort::Service;
use Test::More;

use constant { BEGUN_MS => 20, SHARE_MS => 100, RATIO => 3 };
use constant TENANTS => ($ENV{RETORT_BACKEND} // '') eq 'docker' ? 8 : 40;

my @boxes;
my $J = JSON::PP->new->allow_nonref->ascii;
my $s = Retort::Service->new(stopped => 1, conf => { slots => 64 }, profiles => { default => {
    import => '', memory => '96m', disk => '8m', tmp => '8m', fsize => '8m', processes => '20',
    cpu => '1', timeout => '2m 2m', ready => '0', sessions => '60' } });

open my $keys, '>>', "$s->{dir}/keys" or die $!;
print {$keys} map {"tenant$_:" . sha256_hex("key of $_") . "\n"} 0 .. TENANTS;
close $keys;
$s->start;

my @rage = (
    "while True: print('x' * 8000)",
    "import os\nwhile True:\n    if os.fork() == 0:\n        b = bytearray(400 << 20)\n"
        . "        b[::4096] = b'x' * (len(b) // 4096)\n        os._exit(0)\n    os.wait()",
    "n = 0\nwhile True:\n    n += 1\n    try: open('/tmp/%d' % n, 'wb').write(b'x' * (1 << 20))\n    except OSError: n = 0",
    "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
);


sub as_tenant {
    my ($tenant, $path, $data) = @_;
    my $r = $s->request('POST', $path, $J->encode($data), authorization => "Bearer key of $tenant");

    return eval { $J->decode($r->{content}) } // {};
}


sub begin {
    my ($tenant, $data) = @_;
    my $pid = fork // die;

    return $pid if $pid;

    my $r = as_tenant($tenant, '/v1/execute', $data);

    POSIX::_exit(($r->{stdout} // '') eq "4999950000\n" ? 0 : 1);
}


# who rages begins again, should it end
sub rage {
    my ($tenant, $code) = @_;
    my $pid = fork // die;

    return $pid if $pid;
    my $box = $boxes[$tenant];

    while ($box) {
        my $r = as_tenant($tenant, '/v1/execute', { code => $code, sandbox_id => $box });

        print STDERR "# rage of $tenant: ", $r->{status} // '', ' ', $r->{error}{message} // '', "\n" if $ENV{RAGE};
        $box = as_tenant($tenant, '/v1/sandboxes', {})->{sandbox_id};
    }

    POSIX::_exit(0);
}


sub cpu_ms {
    my ($box) = @_;
    my $v1 = Retort::Service::slurp("$box/cpuacct.usage");

    return $v1 / 1e6 if $v1;
    return Retort::Service::slurp("$box/cpu.stat") =~ /^usage_usec (\d+)/m ? $1 / 1000 : 0;
}


sub median { (sort { $a <=> $b } @_)[@_ / 2] }


# of each in the hierarchy that counts CPU time; the service's part of a container
# is none of it
sub boxes_cpu {
    my @all = $s->{engine} ? map { $s->{engine}->cgroups($_) } $s->containers : $s->boxes;
    my ($file) = grep { my $f = $_; grep { -e "$_/$f" } @all } qw(cpuacct.usage cpu.stat);

    return map { $_ => cpu_ms($_) } grep { -e "$_/$file" } @all;
}


# what each sandbox gets, once all of them work
sub shares {
    my %idle = @_;
    my @boxes = keys %idle;
    my %had;

    for my $least (BEGUN_MS, SHARE_MS) {
        my %before = $least == BEGUN_MS ? %idle : boxes_cpu();

        $s->until_true(sub {
            %had = map { $_ => cpu_ms($_) - $before{$_} } @boxes;
            $least == BEGUN_MS ? !grep({ $_ < $least } values %had) : median(values %had) >= $least;
        }, 120) or fail('all of them work'), diag(explain \%had);
    }

    # who rages has the most processes
    my ($hostile) = sort { processes($b) <=> processes($a) } @boxes;

    return (delete $had{$hostile}, values %had);
}


sub processes { scalar(() = Retort::Service::slurp("$_[0]/cgroup.procs") =~ /\n/g) }

sub service { join ' ', sort grep {defined} $s->{broker}, $s->nginx_pid, map { $s->process("retort-$_") } qw(front mapd kernel fetch) }


@boxes = map { as_tenant($_, '/v1/sandboxes', {})->{sandbox_id} } 0 .. TENANTS;
my $service = service();
my $sum = { code => 'print(sum(range(100000)))' };

is(scalar(grep {defined} @boxes), TENANTS + 1, TENANTS . ' tenants and one have a sandbox each');

# ---- one rages ----

my %idle = boxes_cpu();
my @all = (rage(0, $rage[3]), map { begin($_, { code => 'while True: pass', sandbox_id => $boxes[$_] }) } 1 .. TENANTS);

$s->until_true(sub { grep { processes($_) >= 20 } $s->boxes }) or fail('one has all processes that it may');

my ($hostile, @others) = shares(%idle);

is(scalar @others, TENANTS, 'all others work while one rages');
cmp_ok($hostile, '<', RATIO * median(@others), '... whose twenty processes together have no more than one of theirs');
cmp_ok((sort { $a <=> $b } @others)[0], '>', median(@others) / RATIO / 2, '... and none of them is left out')
    or diag("@others");
$s->request('DELETE', "/v1/sandboxes/$boxes[$_]", undef, authorization => "Bearer key of $_") for 1 .. TENANTS;
waitpid $_, 0 for @all[1 .. TENANTS];

# fresh ones, all at once
@all[1 .. TENANTS] = map { begin($_, $sum) } 1 .. TENANTS;
is(scalar(grep { waitpid($_, 0); $? != 0 } @all[1 .. TENANTS]), 0, 'as many come at once, and each has its answer');
ok($s->until_true(sub { grep { processes($_) >= 20 } $s->boxes }), '... while it rages');

# ---- all but one rage ----

$boxes[$_] = as_tenant($_, '/v1/sandboxes', {})->{sandbox_id} for 1 .. TENANTS;
@all[1 .. TENANTS - 1] = map { rage($_, $rage[$_ % 4]) } 1 .. TENANTS - 1;
$s->until_true(sub { (grep { processes($_) >= 20 } $s->boxes) >= TENANTS / 4 }) or fail('they rage');

is(as_tenant(TENANTS, '/v1/execute', { %$sum, sandbox_id => $boxes[TENANTS] })->{stdout}, "4999950000\n",
    'they rage, each in its way: one that does not has its answer');
is(as_tenant(TENANTS, '/v1/execute', $sum)->{stdout}, "4999950000\n", '... and a fresh sandbox');
ok((grep { processes($_) >= 20 } $s->boxes), '... while they do');
is(service(), $service, 'the service\'s processes are those that they were');
is($s->get('/health/startup')->{status}, 200, '... and serve');

pop @all;
kill 'TERM', @all;
waitpid $_, 0 for @all;
$s->end;
done_testing;
