#!/usr/bin/perl

# Start, stop, kill, start again: what the service owes to whoever runs it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use IO::Socket::UNIX;
use POSIX ();
use Retort::Service;
use Socket qw(SOCK_DGRAM);
use Test::More;
use Time::HiRes qw(sleep);

# ---- refusals, each with a reason ----

my $s = Retort::Service->new(stopped => 1);
my $d = $s->{dir};

# what is there stays, but for what makes it a profile of containers
sub refused {
    my ($file, $text, $why, $name) = @_;
    my $old = Retort::Service::slurp($file);

    Retort::Service::write_file($file, ($old =~ s/^(?:backend|docker_\w+) .*\n//gmr) . $text);
    like(scalar `$Retort::Service::TOP/objs/retortd --conf $d/retortd.conf --check 2>&1`,
        $why, $name);
    isnt($?, 0, "... and is an error");
    Retort::Service::write_file($file, $old);

    return;
}

is(system("$Retort::Service::TOP/objs/retortd --conf $d/retortd.conf --check"), 0,
    'a good configuration passes the check');
refused("$d/retortd.conf", "colour blue\n", qr/retortd\.conf:\d+: unknown name .*colour/,
    'an unknown name is refused with its line');
refused("$d/profiles/default.conf", "memory 2g 1g\n", qr/the default is above the ceiling: "memory"/,
    'a default above its ceiling is refused');
refused("$d/profiles/default.conf", "memory lots\n", qr/"lots" of "memory" is no value/,
    'a value that is none is refused');
refused("$d/profiles/default.conf", "timeout 3y\n", qr/"3y" of "timeout"/,
    'an unknown unit is refused');
refused("$d/profiles/default.conf", "life long\n", qr/"life" is timed or exit, not "long"/,
    'a life of another kind is refused');
refused("$d/profiles/default.conf", "snapshot maybe\n", qr/off or on, not "maybe"/,
    'and a snapshot that is neither on nor off');
refused("$d/profiles/default.conf", "qwen_fence four\n", qr/"qwen_fence" is three or longer, not "four"/,
    'and another fence');
refused("$d/profiles/default.conf", "M6_CODE_INTERPRETER_STATIC_URL http://h/(s)\n",
    qr{links cannot begin so: "http://h/\(s\)"}, 'and links that would not be any');
refused("$d/profiles/default.conf", "life exit\n", qr/"life exit" needs "alive"/,
    'one without an end, too');
refused("$d/profiles/default.conf", "docker_reuse 60s\n", qr/"docker_reuse" is for containers/,
    'and a container that waits where there are none');
refused("$d/retortd.conf", "artifacts_quota 1k\n", qr/"1k" of "artifacts_quota"/,
    'a quota that holds nothing is refused');
chmod 0666, "$d/profiles/default.conf";
refused("$d/profiles/default.conf", '', qr/writable by root alone/,
    'a profile that others may write is refused');
chmod 0644, "$d/profiles/default.conf";
like(scalar `setpriv --reuid 65534 --clear-groups $Retort::Service::TOP/objs/retortd --conf $d/retortd.conf 2>&1`,
    qr/must be started by root/, 'it says who has to start it');

# ---- readiness, told to a supervisor ----

my $notify = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => "$d/notify")
    or die "notify: $!";

chmod 0777, "$d/notify";
$ENV{NOTIFY_SOCKET} = "$d/notify";
$s->start;
delete $ENV{NOTIFY_SOCKET};
$notify->recv(my $word, 100);
is($word, 'READY=1', 'the supervisor is told when it is ready');

# ---- one at a time ----

like(scalar `$Retort::Service::TOP/objs/retortd --conf $d/retortd.conf 2>&1`,
    qr/a service runs here already/, 'a second service with the same socket is refused');
like(scalar `$Retort::Service::TOP/objs/retortd --conf $d/retortd.conf --listen $d/run2/s 2>&1`,
    qr/a service named "\S+" runs already/, 'and one of the same name elsewhere');
is($s->run('print(1)')->{stdout}, "1\n", 'and the first does not notice');

# ---- the broker killed: nothing of it stays, the next start sweeps ----

my $box = $s->session;

$s->bash('sleep 1000 & disown; setsid sleep 1000 & disown', sandbox_id => $box);
cmp_ok(scalar $s->inside, '>=', 4, 'a sandbox runs, with daemons in it');

my $old = $s->{broker};
my @children = $s->children($old);
my $caller = fork // die;

if ($caller == 0) {
    my $r = $s->run('open("on", "w").close(); import time; time.sleep(15)',
        sandbox_id => $box);
    POSIX::_exit(($r->{status} // '') eq 'lost' ? 0 : 1);
}

$s->until_true(sub {
    return (($s->json('GET', "/v1/sandboxes/$box"))[1]{status} // '')
        eq 'running'
});
$s->stop_retortd('KILL');
waitpid $caller, 0;
is($?, 0, 'the broker is killed: a run in the middle is lost, and says so');
ok($s->until_true(sub { !$s->inside }), 'the broker is killed: every sandbox ends');
ok($s->until_true(sub { !grep { kill 0, $_ } @children }),
    '... and every process of the service');
is($s->run('1')->{http}, 503, 'requests are answered 503 meanwhile');
cmp_ok(scalar $s->boxes, '>', 0, 'cgroups of the earlier life are there');
$s->start_retortd;
$s->wait_ready;
is($s->run('print(2)')->{stdout}, "2\n", 'the next start serves');
is($s->run('1', sandbox_id => $box)->{http}, 410, 'a sandbox of the earlier life is known to be gone');

# ---- a template killed: running sandboxes do not notice, new ones come ----

$box = $s->session;
$s->run('x = 5', sandbox_id => $box);

my $template = $s->process($s->docker ? 'retort-docker' : 'retort-kernel');

ok($template, 'there is a template');
kill 'KILL', $template;
is($s->run('print(x)', sandbox_id => $box)->{stdout}, "5\n",
    'the template is killed: a session goes on');
ok($s->until_true(sub { ($s->run('print(3)')->{stdout} // '') eq "3\n" }),
    '... and fresh ones are made by another template');

# ---- pid 1 of a sandbox killed from outside ----

my ($pid1) = grep { my $p = $_; Retort::Service::slurp("/proc/$p/status") =~ /^NSpid:\s+\d+\s+1$/m
        && grep { Retort::Service::slurp("/proc/$_/status") =~ /^PPid:\s+$p$/m } $s->inside }
    $s->inside;

kill 'KILL', $pid1 if $pid1;
ok($pid1, 'pid 1 of a sandbox is killed');
ok($s->until_true(sub { !kill 0, $pid1 }), '... and it is gone');
is($s->run('print(4)')->{stdout}, "4\n", 'others do not notice');

# ---- nothing to do ----

sub ticks {
    my %t;

    for my $p ($s->{broker}, $s->children($s->{broker})) {
        my @f = split / /, Retort::Service::slurp("/proc/$p/stat") =~ s/.*\) //sr;
        $t{$p} = $f[11] + $f[12] if @f > 12;
    }
    return %t;
}


$s->run('1') for 1 .. 3;
sleep 2;
my %before = ticks();
sleep 1;
my %after = ticks();
is(join(' ', grep { $after{$_} - ($before{$_} // $after{$_}) > 20 } keys %after),
    '', 'when nothing is asked nobody works');

# ---- stop while something runs ----

my $last = $s->session;
my $pid = fork // die;

if ($pid == 0) {
    my $r = $s->run('import time; open("runs", "w").close(); time.sleep(100)',
        timeout => 50, sandbox_id => $last);
    POSIX::_exit(($r->{status} // '') =~ /^(?:cancelled|lost|killed)$/ ? 0 : 1);
}

sleep 1.5;
is($s->stop_retortd, 0, 'it stops while a run is going on');
waitpid $pid, 0;
is($?, 0, 'and that run had its verdict');

$s->end;
done_testing;
