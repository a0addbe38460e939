#!/usr/bin/perl

# Who dies when the memory of a sandbox ends: who took it, the interpreter before
# its frozen copy, and not pid 1, which holds the sandbox together and has the
# imports of the template in its memory as well.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

my $s = Retort::Service->new(profiles => { default => {
    import => 'numpy', memory => '96m', disk => '64m 64m', tmp => '64m', fsize => '64m',
    processes => '40', ready => '0' } });


# by its number inside, of all sandboxes that there are: one
sub numbered {
    my ($number) = @_;

    return join ' ', grep { Retort::Service::slurp("/proc/$_/status") =~ /^NSpid:.*\s$number$/m } $s->inside;
}


# the first process that pid 1 has: a container began with others
sub interpreter {
    my ($first) = sort { $a <=> $b } grep { $_ > 1 }
        map { Retort::Service::slurp("/proc/$_/status") =~ /^NSpid:.*\s(\d+)$/m } $s->inside;

    return numbered($first // 2);
}


# one that the service made meanwhile may be there for a moment
sub only {
    $s->until_true(sub { numbered(1) =~ /^\d+$/ });
    return numbered(1);
}


# the scores of those whom the kernel says that it killed for their memory
sub killed {
    my ($from, $to) = $s->range;

    return map {/oom_score_adj:(-?\d+)/} grep { / UID:(\d+) / && $1 >= $from && $1 <= $to }
        grep {/out of memory: Killed process/} split /\n/, `dmesg 2>/dev/null`;
}


sub score { Retort::Service::slurp("/proc/$_[0]/oom_score_adj") =~ s/\s//gr }

my $small = "import os, time\nfor i in range(30):\n    if os.fork() == 0:\n"
    . "        os.execv('/bin/sleep', ['sleep', '100'])\n";
my $fill = "for d in ('/tmp', '/dev/shm', '/workspace'):\n    try:\n        with open(d + '/full', 'wb') as f:\n"
    . "            for i in range(60): f.write(b'x' * (1 << 20))\n    except OSError: pass\n";
my @ways = (
    ['the interpreter takes it', "x = []\nwhile True: x.append(b'x' * (1 << 20))", 'oom'],
    ['a process that it started takes it', "import subprocess\nr = subprocess.run(['python3', '-c',"
        . " 'x = []\\nwhile True: x.append(b\"x\" * (1 << 20))'])\nprint(r.returncode)", 'ok'],
    ['many take it, each a little', "import os, time\nfor i in range(30):\n    if os.fork() == 0:\n"
        . "        x = b'x' * (8 << 20)\n        time.sleep(100)\nos.wait()\nprint('over')", '(?:ok|oom)'],
    ['files take it, beside small processes', $small . $fill . "print('over')", '(?:ok|oom)'],
);

for my $of (@ways) {
    my ($way, $code, $verdict) = @$of;
    my $box = $s->session;

    is($s->run("kept = 7", sandbox_id => $box)->{status}, 'ok', "$way: before it does, all is well");
    my $pid1 = only();

    like($pid1, qr/^\d+$/, '... there is a pid 1');
    is(score($pid1), 200, '... which is the last to go');
    is(score(interpreter()), 500, '... after the interpreter');

    my $r = $s->run($code, sandbox_id => $box, timeout => 20);

    like($r->{status}, qr/^$verdict$/, '... it ends as it should');
    is(numbered(1), $pid1, '... and pid 1 is the same');

    my $n = $s->run("import shutil, os\nfor d in ('/tmp', '/dev/shm', '/workspace'):\n"
        . "    if os.path.exists(d + '/full'): os.remove(d + '/full')\nprint(kept)", sandbox_id => $box);
    is($n->{stdout}, "7\n", '... what was before is there') or diag explain $n;
    $s->json('DELETE', "/v1/sandboxes/$box");
    $s->until_true(sub { !$s->inside && !$s->boxes }) or fail('it is gone');
}

# ---- who means pid 1 ----

my $box = $s->session;
my $other = $s->session;

is($s->run('x = 1', sandbox_id => $_)->{status}, 'ok', 'a session lives') for $box, $other;

# the interpreter becomes a small program, so that pid 1 has the most memory
my $r = $s->run("import os\nos.execv('/bin/sh', ['sh', '-c', 'for i in 1 2 3; do for d in /tmp /dev/shm /workspace;'\n"
    . "    ' do cat /dev/zero > \$d/full; done; done; sleep 60'])", sandbox_id => $box, timeout => 20);

like($r->{status}, qr/^(?:oom|killed|timeout)$/, 'an interpreter that becomes another program, and fills all files, ends')
    or diag explain $r;
is($s->run('print(x)', sandbox_id => $other)->{stdout}, "1\n", '... another one does not notice');

# the session may be over, because nothing fits beside its files; who died is known
SKIP: {
    my %scores = map { $_ => 1 } killed();

    skip 'the kernel does not tell whom it killed', 1 unless %scores;
    is_deeply(\%scores, { 500 => 1 }, 'the kernel killed interpreters, copies and what they started, and no pid 1');
}

$s->end;
done_testing;
