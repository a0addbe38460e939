#!/usr/bin/perl

# retortctl and a whole service: what there is, what runs, its end; who may.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use POSIX ();
use Retort::Prom;
use Retort::Service;
use Test::More;
use Time::HiRes qw(time sleep);

my $s = Retort::Service->new(
    conf => { control_group => 'games' },
    profiles => { default => { ready => '1' } },
    location => 'location = /metrics { retort_pass unix:%RUN%/front.sock; '
        . 'retort_api metrics; } location = /status { retort_pass '
        . 'unix:%RUN%/front.sock; retort_api status; }',
    nginx => 'retort_zone runs 64k;', alerts => qr/front\.sock failed/);

my $socket = "$s->{dir}/run/control.sock";
my @socket = ('--socket', $socket);
my $err = "$s->{dir}/err";


# its exit code and what it prints; "as" [uid, gids ...]

sub ctl_as {
    my ($as, @args) = @_;
    my $pid = open(my $f, '-|') // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>', $err;
        my @ids = $as ? ('setpriv', @$as) : ();
        exec @ids, "$Retort::Service::TOP/objs/retortctl", @socket, @args
            or POSIX::_exit(127);
    }

    my $out = do { local $/; <$f> } // '';
    close $f;
    return ($? >> 8, $out);
}

sub ctl { return ctl_as(undef, @_) }
sub told { return Retort::Service::slurp($err) }
sub json { return decode_json((ctl(@_, '--json'))[1] || '{}') }

my $file = "$s->{dir}/cell.py";
sub cell { Retort::Service::write_file($file, shift); return $file }


# who may

my @st = stat $socket;
is($st[2] & 07777, 0660, 'the socket is no other\'s');
is_deeply([@st[4, 5]], [0, scalar getgrnam 'games'],
          'it is root\'s and the control group\'s');
is((ctl('pool'))[0], 0, 'root may ask');
my @nobody = qw(--reuid nobody --regid nogroup);
is((ctl_as([@nobody, '--groups', 'games'], 'pool'))[0], 0,
   'so may who is in the group');
is((ctl_as([@nobody, '--clear-groups'], 'pool'))[0], 3, 'nobody else');
like(told(), qr/Permission denied/, 'which is told');
is((ctl_as(['--reuid', 'www-data', '--regid', 'www-data', '--clear-groups'],
           'pool'))[0], 3, 'not the web server either');
is((ctl('pool', '--socket', "$s->{dir}/none"))[0], 3,
   'no front, and that is told by the exit code');

# what there is

my $id = $s->session;
my ($code, $out) = ctl('ps');
is($code, 0, 'sandboxes are listed');
like($out, qr/^\Q$id\E +demo +default +idle +\d{4}-/m, 'each in a line');
my ($one) = grep { $_->{id} eq $id } @{json('ps')->{sandboxes}};
is($one->{workspace}, 'demo', 'or as JSON');
$s->until_true(sub { json('pool')->{profiles}[0]{ready} == 1 });
is(scalar(grep { $_->{status} eq 'ready' } @{json('ps')->{sandboxes}}), 0,
   'without those that wait');
is(scalar(grep { $_->{status} eq 'ready' }
          @{json('ps', '--all')->{sandboxes}}), 1, 'or with them');
($code, $out) = ctl('show', $id);
is($code, 0, 'one is shown');
like($out, qr/^uses memory_bytes: [1-9]\d{5,}$/m, 'with what it uses');
is(json('show', $id)->{limits}{processes}, 48, 'and its limits');
is((ctl('show', 'sbx_local_' . '0' x 32))[0], 1, 'one that is not is told');
is((ctl('show', '../drain'))[0], 2, 'what is no id is not asked');
like((ctl('pool'))[1], qr/^default +yes +1 +1 +1 +0 +32$/m, 'pools are shown');

# run

($code, $out) = ctl('run', cell('print(6 * 7)'));
is($code, 0, 'a file is run');
is($out, "42\n", 'and its output printed');
($code, $out) = ctl('run', cell("import sys\nsys.stderr.write('e')\n1/0"));
is($code, 1, 'an error is an exit code');
like(told(), qr/ZeroDivisionError/, 'and shown');
is((ctl('run', cell('while 1: pass'), '--timeout', '0.3'))[0], 4,
   'a run that takes too long has its own');
Retort::Service::write_file("$s->{dir}/x.sh", 'echo $((6 * 7)) $BASH_VERSION');
like((ctl('run', "$s->{dir}/x.sh"))[1], qr/^42 5/, 'a script is run by bash');
is((ctl('run', "$s->{dir}/none.py"))[0], 2, 'a file that is not there is told');
is((ctl('run', $file, '--workspace', 'a b'))[0], 1, 'a bad workspace, too');
is((ctl('run', $file, '--profile', 'none'))[0], 1, 'an unknown profile, too');
my @events = map { decode_json($_) } split /\n/,
    (ctl('run', cell('print("a")'), '--json'))[1];
is($events[-1]{status}, 'ok', 'as JSON, events come one a line');

# live

cell("import time\nprint('first', flush=True)\ntime.sleep(20)");
my $pid = open(my $f, '-|') // die;
if ($pid == 0) {
    open STDERR, '>', $err;
    exec "$Retort::Service::TOP/objs/retortctl", 'run', $file, @socket;
}
is(scalar <$f>, "first\n", 'output is there before the end');
my ($busy) = grep { $_->{status} eq 'busy' } @{json('ps')->{sandboxes}};
ok($busy, 'and the run shows as busy');
is((ctl('kill', $busy->{id} // ''))[0], 0, 'it can be ended');
close $f;
is($? >> 8, 6, 'which is its exit code');

# kill, drain

is((ctl('kill', $id))[0], 0, 'a session is ended');
is($s->run('1', sandbox_id => $id)->{http}, 410, 'and its owner is told');
is((ctl('kill', $id))[0], 1, 'once');
is((ctl('drain'))[0], 0, 'it drains');
is($s->run('1')->{http}, 503, 'no new run is taken');
is($s->get('/health/startup')->{status}, 503, 'the probe says so');
like((ctl('run', cell('1')))[1] . told(), qr/draining/, 'not by root either');
is((ctl('drain', '--off'))[0], 0, 'it takes work again');
is($s->run('print(1)')->{stdout}, "1\n", 'and works');

# what nginx serves of it

my $p = eval { Retort::Prom->parse($s->get('/metrics')->{content}) };
is($@, '', 'the metrics of a real service are well-formed');
is($p->value('retort_runs_total', workspace => 'demo', verdict => 'ok'), 1,
   'with its runs');
cmp_ok($p->value('retort_runs_total', workspace => 'retortctl',
                 verdict => 'timeout'), '==', 1, 'those of retortctl as well');
is($p->value('retort_admission_running', zone => 'runs'), 0,
   'and what nginx counts');
is(decode_json($s->get('/status')->{content})->{status}, 'ready',
   'the status is there, too');
$s->stop_retortd;
is($s->get('/metrics')->{status}, 503, 'without a front there are none');
is((ctl('ps'))[0], 3, 'and nothing to ask');

$s->end;
done_testing;
