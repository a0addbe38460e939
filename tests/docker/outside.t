#!/usr/bin/perl

# What happens to containers and their engine from outside: each run has a
# verdict, each request an answer, and no container strays.  The engine is the
# tests' own; a service of each part ends before the next part's starts.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/../lib";

BEGIN { $ENV{RETORT_BACKEND} = 'docker' }

use Retort::Service;

my $e = Retort::Engine->get;


sub service {
    return Retort::Service->new(alerts => qr/./,
        profiles => { default => { import => '', ready => $_[0] } });
}


# a run that is inside when something is done to its container

sub meanwhile {
    my ($s, $what) = @_;
    my $id = $s->session;
    my ($done, $end);

    my ($status) = $s->stream('POST', '/v1/execute',
        { code => "print('in', flush=True)\nimport time\ntime.sleep(50)",
          timeout => 55, sandbox_id => $id },
        sub {
            $end = $_[0]{status} if defined $_[0]{status};
            $what->() if ($_[0]{text} // '') =~ /^in/ && !$done++;
            return 1;
        });

    return ($id, $end // '');
}


sub works {
    my ($s, $when) = @_;
    my $r;

    ok($s->until_true(sub {
        $r = $s->run('print(2+2)');
        return ($r->{stdout} // '') eq "4\n";
    }, 90), "$when a run is a run again") or diag explain $r;

    return;
}


my $s = service(0);

for (['killed', sub { $e->docker('kill', $_) for $s->containers }],
     ['removed', sub { $e->docker('rm', '-f', $_) for $s->containers }])
{
    my ($how, $what) = @$_;
    my ($id, $end) = meanwhile($s, $what);

    like($end, qr/^(?:killed|lost)$/, "a container $how: its run says so");
    ok($s->until_true(sub { !$s->containers }), '... and nothing of it stays');

    my ($status) = $s->json('POST', '/v1/execute',
        { code => '1', sandbox_id => $id });
    like($status, qr/^4(?:04|10)$/, '... its session is no more');
    works($s, '... afterwards');
}

# ---- an engine that does not answer ----

ok($s->until_true(sub { !$s->containers }), 'nothing runs');
$e->hold;
my $r = $s->request('POST', '/v1/execute', '{"code":"1"}');
is($r->{status}, 503, 'an engine that is slow: no capacity');
like($r->{headers}{'retry-after'} // '', qr/^\d+$/, '... and when to try again');
is($s->get('/health')->{status}, 200, '... the service lives');
$e->release;
works($s, '... when it answers again');

# ---- one that crashes in the middle of a run ----

my (undef, $end) = meanwhile($s, sub { $e->crash });
like($end, qr/^(?:killed|lost)$/, 'an engine that crashes: its runs say so');
$r = $s->request('POST', '/v1/execute', '{"code":"1"}');
is($r->{status}, 503, '... while it is away there is no capacity');
like($r->{headers}{'retry-after'} // '', qr/^\d+$/, '... for some time');
$e->start;
works($s, '... when it is there again');
ok($s->until_true(sub { !$s->containers }), '... and no container strays');

# ---- a service that is killed ----

my $id = $s->session;
is(scalar(() = $s->containers), 1, 'a session has its container');
my @label = ("retort.service=$s->{dir}/run/front.sock");

kill 'KILL', $s->{broker}, $s->children($s->{broker});
waitpid delete $s->{broker}, 0;
ok($s->until_true(sub { !$e->containers(@label) }, 60),
    'a service that is killed with all of its own leaves no container');

my $stray = $e->docker(qw(run -d --network none --label), @label, qw(--label
    retort.life=1-1 --entrypoint /usr/bin/sleep), $e->image, '1000');
my $other = $e->docker(qw(run -d --network none --label retort.service=other
    --entrypoint /usr/bin/sleep), $e->image, '1000');

s/\s//g for $stray, $other;
unlink glob "$s->{dir}/run/*";
$s->start_retortd;
$s->wait_ready;
ok(!(grep { $_ eq $stray } $e->containers),
    'the next start removes what an earlier life left');
ok((grep { $_ eq $other } $e->containers), '... and nobody else\'s');
$e->docker('rm', '-f', $other);
works($s, '... then');
$s->end;

# ---- another runtime, and one that is not there ----

$s = Retort::Service->new(stopped => 1, alerts => qr/./, profiles => {
    default => { import => '', ready => 0, docker_runtime => 'another' },
    none => { import => '', ready => 0, docker_runtime => 'none' } });
$s->{location} = "location /none/ { retort_pass unix:$s->{dir}/run/front.sock;"
    . " retort_auth_key_file $s->{dir}/keys; retort_profile none; }";
$s->configure;
$s->start_retortd;
$s->start_nginx;
works($s, 'by a runtime that a profile names');
$s->session;
# that of the run before may still be on its way out
ok($s->until_true(sub { (() = $s->containers) == 1 }), '... a session is one container');
is_deeply([map { $e->inspect($_)->{HostConfig}{Runtime} } $s->containers],
    ['another'], '... which is what the engine runs');

my ($status, $said) = $s->json('POST', '/none/execute', { code => '1' });
is("$status $said->{error}{code}", '503 engine_away',
    'one that the engine does not have is no capacity, and nothing else instead');
$s->end;

# ---- an image that is not there ----

$s = Retort::Service->new(stopped => 1, profiles => { default => {
    docker_image => 'sha256:' . '0' x 64 } });
$s->start_retortd;
ok($s->until_true(sub { $s->log =~ /the engine has no image sha256:0000/ }),
    'an image that is missing is named in the log');
is_deeply([$s->containers], [], '... nothing is started instead');
$s->stop_retortd;
$s->sweep;
$s->{ended} = 1;
File::Path::remove_tree($s->{dir});

done_testing();
