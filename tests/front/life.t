#!/usr/bin/perl

# How a front starts, refuses to start, and stops.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(sleep time);

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my ($f, $r);

# it does not start

sub refuses {
    my ($what, $says, %o) = @_;

    my $bad = Retort::Front->new()->run(%o);
    is($bad->ended // -1, 256, "$what: it does not start");
    like($bad->log, $says, 'and says why');
}

my $settings = Retort::Front::settings();

refuses('as root', qr/never runs as root/, uid => 0);
refuses('an unknown option', qr/--allow-root: unknown/,
        args => ['--allow-root', 'yes']);
refuses('a bad number of threads', qr/--threads 0/, args => ['--threads', 0]);
refuses('an option without a value', qr/--allow-uid: a value is missing/,
        args => ['--allow-uid']);
refuses('settings of another size', qr/settings: wrong size/,
        settings => Retort::Front::memfd(substr $settings, 0, 100));
refuses('settings of another kind', qr/settings: bad magic/,
        settings => Retort::Front::memfd("x" x length $settings));
refuses('settings without a profile', qr/settings: bad number/,
        settings => Retort::Front::memfd(
            substr($settings, 0, 28) . pack('L', 0) . substr $settings, 32));

open my $file, '+>', undef;
syswrite $file, $settings;
refuses('settings that are not sealed', qr/not a sealed memfd/,
        settings => $file);

# what it gave up before it served

$f = Retort::Front->new()->run();
$f->get('GET', '/sandboxes');

SKIP: {
    skip 'a sanitizer\'s build has no filter', 2 if $f->log =~ /sanitizer/;
    # one of them ends when its work at the start is done
    my @task = grep { defined } map {
        local $/;
        my $fh;
        open($fh, '<', $_) ? scalar <$fh> : undef;
    } glob "/proc/$f->{pid}/task/*/status";
    cmp_ok(scalar(grep { /^Seccomp:\t2$/m && /^NoNewPrivs:\t1$/m } @task),
           '>=', 11, 'its threads are filtered and gain no privilege');
    is(scalar(grep { !/^Seccomp:\t2$/m || !/^Cap(?:Eff|Prm):\t0+$/m } @task),
       0, 'there is none that is not, or that holds a capability');
}

# what the broker refuses, once it was shown that a sandbox can be made

ok(wait_for(sub { my %n = $f->{broker}->counts(); $n{kill} && !$n{boxes} }),
   'of the sandbox of the start nothing is kept');

my %codes = (1 => [500, 'unknown_profile'], 3 => [429, 'no_capacity'],
             4 => [503, 'warming'], 5 => [500, 'sandbox_failed'],
             6 => [500, 'sandbox_failed']);

for my $code (sort keys %codes) {
    my ($status, $word) = @{$codes{$code}};

    $f->{broker}->tell('spawn', $code);
    $r = $f->execute({ code => '1' });
    is("$r->{status} $r->{json}{error}{code}", "$status $word",
       "the broker's code $code is told as $word");
    is($r->{header}{'retry-after'}, $code =~ /[34]/ ? 1 : undef,
       'with a time to come again if there is one');
}

$f->{broker}->tell('spawn', 5);
like($f->execute({ code => '1' })->{json}{error}{message},
     qr/step "cgroup"/, 'a step that failed is named');
is($f->get('POST', '/sandboxes')->{status}, 500, 'for a sandbox, too');
$f->{broker}->tell('spawn', 0);
is($f->execute({ code => '1' })->{status}, 200, 'and when it can, it does');
undef $f;

# readiness

$f = Retort::Front->new(ready => 1);
$f->{broker}->tell('spawn', 4);
$f->run();
my @probe = ('GET', '/startup', '', RETORT_API => 'health');
$r = $f->get(@probe);
is($r->{status}, 503, 'while a template is cold it is not ready');
like($r->{json}{error}{message}, qr/"default"/, 'and says which');
$f->{broker}->tell('spawn', 0);
ok(wait_for(sub { $f->get(@probe)->{status} == 200 }),
   'once a sandbox was sealed it is');

# capacity: waiting boxes give way

undef $f;
$f = Retort::Front->start(ready => 2);
ok(wait_for(sub { $f->get('GET', '/metrics', '', RETORT_API => 'metrics')
                      ->{body} =~ /^retort_pool_ready\S* 2$/m }),
   'two boxes wait, of which the front knows');
$f->{broker}->tell('slots', 2);
$r = $f->get('POST', '/sandboxes', { limits => { processes => 10 } });
is($r->{status}, 201, 'a box that only waits gives way to a request');
$r = $f->get('POST', '/sandboxes', { limits => { processes => 10 } });
is($r->{status}, 201, 'and the next one');
is($f->get('POST', '/sandboxes')->{status}, 429, 'then it is full');
$f->{broker}->tell('slots', 0);

# the end

sub running {
    my ($code, %o) = @_;

    my $c = $f->client;
    $c->send_request($f->params('POST', '/execute',
                                CONTENT_TYPE => 'application/json'),
                     JSON::PP->new->encode({ code => $code, %o }));
    ok(wait_for(sub { -e "$f->{dir}/store/go" }), 'a cell runs');
    unlink "$f->{dir}/store/go";
    return $c;
}

my $go = 'open my $x, ">", "' . "$f->{dir}/store/go" . '"; close $x; ';
my $c = running("$go nap(0.5); out('done')");
kill 'TERM', $f->{pid};
like($c->read_answer->{body}, qr/"stdout":"done"/,
     'what runs at the end may finish');
is($f->ended, 0, 'then the front ends with 0');

$f->run();
$go =~ s/".*?"/">"/;
$go = 'open my $x, ">", "' . "$f->{dir}/store/go" . '"; close $x; ';
$c = running("$go nap(60)", timeout => 25);
my $began = time;
$f->{broker}->tell('drain');
like($c->read_answer->{body}, qr/"status":"cancelled"/,
     'what runs for too long is cancelled');
cmp_ok(time - $began, '>', 4, 'but not at once');
is($f->ended, 0, 'and it ends with 0 again');

$f->run();
is($f->execute({ code => 'out(1)' })->{status}, 200, 'a successor serves');
$f->{broker}->tell('hangup');
is($f->ended // -1, 256, 'without its broker a front ends with 1');
like($f->log, qr/broker: (?:closed the|Connection reset)/, 'and says so');

done_front($f);
