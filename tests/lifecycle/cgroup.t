#!/usr/bin/perl

# Where no cgroup can be had the service says so and refuses, unless it is told
# to do without: then everything but the common limits holds.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1, args => ['--without-cgroup'],
    profiles => { default => { import => '', ready => '0' } });
my $retortd = "$Retort::Service::TOP/objs/retortd";

# in a mount namespace of its own: the machine's mounts stay as they are
my $bare = "awk '\$3 ~ /^cgroup/ { print \$2 }' /proc/self/mounts | xargs -n1 umount -l; "
    . "exec timeout 20 '$retortd' --conf '$s->{dir}/retortd.conf'";

open my $pipe, '-|', qw(unshare -m --propagation private sh -c), "exec 2>&1; $bare"
    or die "unshare: $!";

my $said = join '', <$pipe>;

close $pipe;
isnt($?, 0, 'without any cgroup it does not start');
like($said, qr/no cgroup with the controller "memory" can be had/, 'it says which is missing');
like($said, qr/--without-cgroup/, 'and what would start it');

$s->start;
like($s->log, qr/without cgroups: .* have no common limit/, 'told to do without, it warns');
is_deeply([grep {m{/box\d+$}} $s->boxes], [], 'and makes none');

my $r = $s->run('import os; print(os.getpid() > 1, os.getuid() > 0)');

is($r->{stdout}, "True True\n", 'code runs') or diag(explain $r);
$r = $s->run(<<'PY');
import os
n = 0
try:
    for i in range(200):
        if os.fork() == 0:
            import time; time.sleep(1); os._exit(0)
        n += 1
except OSError as e:
    print("stopped", n < 48, e.errno)
for i in range(n): os.wait()
PY
is($r->{stdout}, "stopped True 11\n", 'processes are bounded all the same')
    or diag(explain $r);

my $box = $s->session;

$s->bash('setsid sleep 1000 & disown', sandbox_id => $box);
$s->json('DELETE', "/v1/sandboxes/$box");
ok($s->until_true(sub { !$s->inside }), 'the end of a sandbox is that of all in it');

$s->end;
done_testing;
