#!/usr/bin/perl

# What a run is said to have used is what it used, in any cell of a session.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

my $s = Retort::Service->new(profiles => { default => {
    memory => '1g 1g', disk => '256m 256m', fsize => '256m 256m' } });
my $box = $s->session;


sub near {
    my ($got, $want, $name) = @_;

    ok(abs($got - $want) <= 0.05 * $want, $name)
        or diag("$got, not $want");
}


sub use_ { my $r = $s->run(shift, @_); return $r->{usage} // {} }


for my $place ([], [sandbox_id => $box], [sandbox_id => $box]) {
    my $where = @$place ? 'a cell of a session' : 'a run';
    my $u = use_(<<'PY', @$place);
import time
t = time.process_time()
while time.process_time() - t < 1: sum(range(50000))
PY
    near($u->{cpu_ms}, 1000, "$where: one second of CPU");
    cmp_ok($u->{cpu_user_ms}, '>', 800, 'of which most was its own');

    $u = use_('b = bytearray(256 << 20); del b', @$place);
    near($u->{peak_memory_bytes}, (256 << 20) + 8e6, "$where: 256 MiB at its peak");

    $u = use_(<<'PY', @$place);
with open('f', 'wb') as f:
    for i in range(64): f.write(b'x' * (1 << 20))
import os; os.remove('f')
PY
    near($u->{written_bytes}, 64 << 20, "$where: 64 MiB written");

    $u = use_('import subprocess
subprocess.run("head -c 67108864 /dev/zero > g; rm g", shell=True)', @$place);
    near($u->{written_bytes}, 64 << 20, "$where: by a child, too");

    $u = use_('1', @$place);
    cmp_ok($u->{cpu_ms}, '<', 200, "$where: what was before is not counted");
    cmp_ok($u->{written_bytes}, '<', 1e6, 'nor written again');

    # cgroup v2 can begin anew since Linux 6.12, an engine's container never
    cmp_ok($u->{peak_memory_bytes}, '<', 200 << 20, '... and the peak is its own')
        if -d '/sys/fs/cgroup/memory' && !Retort::Service::docker();

    like($u->{processes}, @$place ? qr/^[234]$/ : qr/^2$/,
         'its processes are counted') or diag(explain $u);
}

my $u = use_('import subprocess, time
for _ in range(3): subprocess.Popen(["sleep", "60"])
t = time.process_time()
while time.process_time() - t < 0.3: pass', sandbox_id => $box);

# one snapshot may still be going, and the next be there already
like($u->{processes}, qr/^[567]$/, 'and those that go on behind a cell');
$u = $s->bash('for i in $(seq 200000); do :; done; seq 100000 > f',
              sandbox_id => $box)->{usage};
cmp_ok($u->{cpu_ms}, '>', 20, 'a script is counted, too');
near($u->{written_bytes}, 588_895 + 1_288_895, 'with what it wrote');

my ($code, $t) = (200, $s->run('print(1)')->{timings_us});
is(join(' ', sort keys %$t), 'create first_byte queue render run',
   'each phase has its time');
cmp_ok($t->{first_byte}, '<=', $t->{run}, 'in an order that can be');

$s->end;
done_testing;
