#!/usr/bin/perl

# A front that dies loses no session, and no run stays without its verdict.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Audit qw(audit_verify);
use Retort::Service;
use Test::More;
use Time::HiRes qw(sleep);

my $s = Retort::Service->new(profiles => { default => { ready => '2' } });
my $box = $s->session;

$s->run('x = 0', sandbox_id => $box);

for my $round (1 .. 10) {
    my $front = $s->process('retort-front');

    kill 'KILL', $front;
    $s->until_true(sub {
        my $now = $s->process('retort-front');
        return $now && $now != $front;
    }) or fail("round $round: no other front");
    $s->wait_ready;

    my $r = $s->run('x += 1; print(x)', sandbox_id => $box);

    is($r->{stdout}, "$round\n", "front $round: the session has its variables")
        or diag(explain $r);
}

# ---- in the middle of a run ----

my $front = $s->process('retort-front');
my $pid = fork // die;

if ($pid == 0) {
    sleep 1;
    kill 'KILL', $front;
    POSIX::_exit(0);
}

my $r = $s->run('import time; time.sleep(15); x = "changed"', sandbox_id => $box);

waitpid $pid, 0;
is($r->{status}, 'lost', 'a run whose front dies has the verdict "lost"')
    or diag(explain $r);
like($r->{execution_id}, qr/^exec_/, 'and is named');
$s->wait_ready;
$r = $s->run('print(x)', sandbox_id => $box);
is($r->{stdout}, "10\n", 'its session lives, and the lost cell was ended')
    or diag(explain $r);

# ---- nobody else's sandbox, before and after ----

my ($status) = $s->request('POST', '/v1/execute',
    '{"code": "1", "sandbox_id": "' . $box . '"}',
    authorization => "Bearer $s->{other}")->{status};

is($status, 404, 'another workspace does not find it after a front\'s death');

# ---- the log of runs ----

my ($rc, $said) = audit_verify("$s->{dir}/audit");

is($rc, 0, 'the chain of the log goes through all fronts') or diag $said;
like($said, qr/ 1 began without an end, .* 11 fronts died/,
    'and tells of each death, and of the run that has no end');

# ---- a front that breaks the protocol is ended (the broker's own word) ----

unlike($s->log, qr/broke the protocol/, 'no front broke the protocol');

# ---- what has ended is waited for, also when it ends while a sandbox is made ----

sub ended { grep { Retort::Service::slurp("/proc/$_/status") =~ /^State:\s+Z/m } $s->children($s->{broker}) }

my $mapd = $s->process('retort-mapd');

kill 'STOP', $mapd;
$pid = fork // die;

if ($pid == 0) {
    $s->run('print(1)') for 1 .. 3;
    POSIX::_exit(0);
}

# its ids are mapped to nothing yet
ok($s->until_true(sub { grep { -e "/proc/$_/uid_map" && Retort::Service::slurp("/proc/$_/uid_map") !~ /\S/ } $s->children($s->{broker}) }),
    'a sandbox is being made, for ever');
$front = $s->process('retort-front');
kill 'KILL', $front;
ok($s->until_true(sub { my $now = $s->process('retort-front'); $now && $now != $front }), 'its front dies meanwhile, and there is another one');
ok($s->until_true(sub { !ended() }), '... nobody who has ended is left') or diag join ' ', ended();
kill 'CONT', $mapd;
waitpid $pid, 0;
$s->wait_ready;

my ($code, $list) = $s->json('GET', '/v1/sandboxes');

is($code, 200, 'sandboxes are listed');
is_deeply([map { $_->{sandbox_id} } @{ $list->{sandboxes} // $list }], [$box],
    'the list has the one session') or diag(explain $list);
($code) = $s->json('DELETE', "/v1/sandboxes/$box");
is($code, 204, 'it is deleted');
is($s->run('1', sandbox_id => $box)->{http}, 410, 'and gone for good');

$s->end;
done_testing;
