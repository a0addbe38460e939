#!/usr/bin/perl

# The host's clock is set ten days on, and ten days back, while sandboxes live:
# the clock of people, as front and nginx see it.  Limits and ages are counted by
# a clock that only goes on; what was promised until a date is judged by the
# date; and the log of runs stays a chain.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Copy qw(copy);
use File::Temp qw(tempdir);
use JSON::PP;
use POSIX ();
use Retort::Audit qw(audit_lines audit_verify);
use Retort::Jwt;
use Retort::Service;
use Test::More;

use constant { DAY => 86400, SKEW => 10 * 86400 };

my $top = $Retort::Service::TOP;
my $keys = tempdir('clock-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $secret = Retort::Jwt->secret('s' x 32);

chmod 0755, $keys;
Retort::Service::write_file("$keys/jwks", Retort::Jwt->set($secret->jwk(kid => 'h1')), 0600);
Retort::Service::write_file("$keys/clock", pack('q', 0), 0644);

my $s = Retort::Service->new(stopped => 1,
    profiles => { default => { import => '', ready => '1', ttl => '60s 1h' },
                  aged => { import => '', ready => '0', ttl => '60s 1h', alive => '4s' } },
    location => "location /jwt/ { retort_api native; retort_pass unix:%RUN%/front.sock;"
        . " retort_auth_jwt $keys/jwks; }\n"
        . "location /aged/ { retort_api native; retort_pass unix:%RUN%/front.sock;"
        . " retort_auth_key_file %RUN%/../keys; retort_profile aged; }");
my $bin = "$s->{dir}/bin";
my @cc = ('gcc', '-std=c11', '-D_GNU_SOURCE', '-U_FORTIFY_SOURCE', '-Wall', '-Wextra', '-Werror', "-DCLOCK_FILE=\"$keys/clock\"");

mkdir $bin;

for my $program (qw(retort-broker retort-mapd retort-launch retort-fetch retort-docker)) {
    copy("$top/objs/$program", "$bin/$program") or die "$program: $!";
    chmod 0755, "$bin/$program";
}

is(system(@cc, '-fPIE', '-pie', '-o', "$bin/retort-front", "$FindBin::Bin/clock.c",
    glob("$top/objs/helper/front/*.o"), glob("$top/objs/helper/front/*/*.o"),
    map({"$top/objs/helper/lib/$_.o"} qw(fdpass log counters)),
    map {"-l$_"} qw(fcgi json-c cap-ng seccomp crypto m pthread)), 0, 'a front whose clock can be set is built');
is(system(@cc, '-fPIC', '-shared', '-o', "$keys/clock.so", "$FindBin::Bin/clock.c"), 0, '... and one for nginx');

my $conf = Retort::Service::slurp("$s->{dir}/retortd.conf");

$conf =~ s/^programs .*/programs $bin/m;
Retort::Service::write_file("$s->{dir}/retortd.conf", $conf);

$s->start_retortd;

{
    local $ENV{LD_PRELOAD} = "$keys/clock.so";
    $s->start_nginx;
}

$s->wait_ready;


# in place: it is mapped
sub set_clock {
    my ($seconds) = @_;

    open my $f, '+<', "$keys/clock" or die $!;
    syswrite $f, pack 'q', $seconds;
    close $f;

    # nginx looks at it when something happens
    $s->get('/health/startup') for 1 .. 2;

    return;
}


# a run, and what happens when its first words are there
sub run_while {
    my ($code, $timeout, $then) = @_;
    my ($status, @events) = $s->stream('POST', '/v1/execute', { code => "print('on', flush=True)\n$code", timeout => $timeout },
        sub { $then->() if ($_[0]{text} // '') =~ /on/; 1 });

    return $events[-1] // {};
}


sub token {
    my ($end) = @_;
    my $r = $s->request('POST', '/jwt/execute', '{"code":"print(1)"}',
        authorization => 'Bearer ' . $secret->token({ sub => 'alice', exp => $end }, { kid => 'h1' }));

    return $r->{status};
}


sub over {
    my ($path) = @_;

    return $s->until_true(sub { $s->get($path)->{status} =~ /^(?:404|410)$/ });
}


sub days_off {
    my ($text) = @_;
    my ($y, $m, $d) = ($text // '') =~ /^(\d+)-(\d+)-(\d+)T/ or return 'no date';

    # in the afternoon, -0.1 is 0 and not "-0"
    return sprintf '%d', sprintf '%.0f',
        (POSIX::mktime(0, 0, 12, $d, $m - 1, $y - 1900) - time) / DAY;
}


my $box = $s->session;
my $now = time;

is($s->run("x = 'kept'", sandbox_id => $box)->{status}, 'ok', 'a session lives');
is(token($now + 3600), 200, 'a token of an hour is good');

for my $way ([SKEW, 'on'], [-SKEW, 'back']) {
    my ($by, $name) = @$way;
    my $r = run_while("import time\ntime.sleep(0.5)\nprint('off')", 20, sub { set_clock($by) });

    is($r->{status}, 'ok', "$name: a run beneath its limit of time is not ended by the clock") or diag explain $r;
    cmp_ok($r->{usage}{wall_ms}, '<', DAY * 1000, '... and took no days');
    cmp_ok($r->{usage}{wall_ms}, '>', 0, '... nor less than nothing');
    set_clock(0);
    is(run_while('while True: pass', 1, sub { set_clock($by) })->{status}, 'timeout', '... one above it is');

    is($s->run('print(x)', sandbox_id => $box)->{stdout}, "kept\n", '... a session that is used has what it had');

    my ($status, $v) = $s->json('GET', "/v1/sandboxes/$box");

    is(days_off($v->{expires_at}), $by / DAY, '... and says by the clock of now when it ends');
    ($status, $v) = $s->json('POST', '/v1/sandboxes', { ttl => 1 });
    is($status, 201, '... a session of a second is made');
    ok(over("/v1/sandboxes/$v->{sandbox_id}"), '... and ends');
    is(token($now + 3600), $by > 0 ? 401 : 200, '... a token is judged by the date');
    is(token($now + $by + 3600), 200, '... one of that date is good');
    set_clock(0);
}

# ---- another front, on another day ----

set_clock(-SKEW);

my ($status, $v) = $s->json('POST', '/aged/sandboxes', {});

is($status, 201, 'a session with an age is made, ten days back');

my $aged = $v->{sandbox_id};

for my $by (0, -SKEW) {
    my $front = $s->process('retort-front');

    set_clock($by);
    kill 'KILL', $front;
    ok($s->until_true(sub { ($s->process('retort-front') // $front) != $front }), 'a front dies and another one comes, '
        . ($by ? 'ten days back' : 'ten days on'));
    $s->wait_ready;
    is($s->run('print(x)', sandbox_id => $box)->{stdout}, "kept\n", '... the session has what it had');
    next if $by;
    ok(over("/aged/sandboxes/$aged"), '... one with an age is over by the date');
    ($status, $v) = $s->json('POST', '/aged/sandboxes', {});
    is($status, 201, '... another one is made');
    $aged = $v->{sandbox_id};
}

ok(over("/aged/sandboxes/$aged"), '... whose age is not ten days more');
$s->run('print(3)');

my @lines = audit_lines("$s->{dir}/audit");
my %days = map { days_off($_->{time}) => 1 } @lines;

is_deeply([sort { $a <=> $b } keys %days], [-10, 0, 10], 'the log of runs has lines of all three days');
is((audit_verify("$s->{dir}/audit"))[0], 0, '... and is one chain');

$s->end;
done_testing;
