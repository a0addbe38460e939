#!/usr/bin/perl

# docker_reuse: whose container a session gets, and when it gets none that was
# there: another workspace's, one that is not clean, one that is needed.

use strict;
use warnings;

use FindBin;
use JSON::PP;
use Test::More;

use lib "$FindBin::Bin/../lib";

BEGIN { $ENV{RETORT_BACKEND} = 'docker' }

use Retort::Service;

my $s = Retort::Service->new(stopped => 1, alerts => qr/./, profiles => {
    default => { docker_reuse => '10m', ready => 0, import => '',
                 sessions => 3 } });
my $e = $s->{engine};

# an API whose clients name their sessions
$s->{location} = "location /azure/ { retort_api azure; retort_pass"
    . " unix:$s->{dir}/run/front.sock; retort_auth_key_file $s->{dir}/keys; }";
$s->configure;
$s->start;
ok($s->until_true(sub { !$s->containers }), 'at first there is none');

my %whose;      # container → the workspaces that had it


sub end { ($s->json('DELETE', "/v1/sandboxes/$_[0]"))[0] }

sub as_other {
    my ($do) = @_;
    local $s->{key} = $s->{other};

    return $do->();
}

# the container of a session: the one in which its process is
sub of {
    my ($id) = @_;
    my $mark = 'mark' . int rand 1e9;

    $s->bash("exec -a $mark sleep 1000 & echo", sandbox_id => $id);

    my ($c) = grep {
        grep { Retort::Service::slurp("/proc/$_/cmdline") =~ /^$mark\0/ }
            $e->processes($_)
    } $s->containers;

    return $c // 'none';
}

sub named {
    my ($name, $code) = @_;
    my $r = $s->request('POST', '/azure/executions?api-version='
        . "2025-10-02-preview&identifier=$name", encode_json({ code => $code,
            codeInputType => 'Inline', executionType => 'Synchronous' }));

    return decode_json($r->{content})->{result}{stdout} // $r->{content};
}


# ---- another workspace ----

my $mine = $s->session;
my $c = of($mine);
is(end($mine), 204, 'a session ends');

my $theirs = as_other(sub { $s->session });
isnt(as_other(sub { of($theirs) }), $c, 'another workspace has another container');
is_deeply([sort $s->containers], [sort $c, as_other(sub { of($theirs) })],
    '... beside the one that waits');
is((as_other(sub { $s->json('POST', '/v1/execute',
    { code => '1', sandbox_id => $mine }) }))[0], 404,
    'an id of before leads nobody else to it');
is(($s->json('POST', '/v1/execute', { code => '1', sandbox_id => $mine }))[0], 410,
    '... nor its own workspace');

my $again = $s->session;
is(of($again), $c, 'its workspace gets it');
is((as_other(sub { $s->json($_->[0], "/v1/sandboxes/$again$_->[1]") }))[0], 404,
    "another workspace: $_->[0] $_->[1] of a living one is none")
    for ['GET', ''], ['DELETE', ''], ['POST', '/restart'];

is(as_other(sub { end($theirs) }), 204, 'the other one ends');
isnt(as_other(sub { of($s->session) }), $c, '... and does not come over');
end($again);
as_other(sub { end($_->{sandbox_id})
    for @{ ($s->json('GET', '/v1/sandboxes'))[1]{sandboxes} } });

is(named('same', "open('mine', 'w').close(); v = 1; print('here')"), "here\n",
    'a client names its session');
is(as_other(sub { named('same', "import os; print(os.listdir('.'), 'v' in dir())") }),
    "[] False\n", '... another workspace has another one of that name');

# ---- a place is needed ----

ok(scalar(() = $s->containers) <= 3, 'those that wait count as sessions');

my @ids = map { my $id = as_other(sub { eval { $s->session } }); $id // () } 1, 2;
is(scalar @ids, 1, 'two of three places are in use: there is one');
as_other(sub { end($_) }) for @ids;
is(scalar(() = $s->containers), 3, '... and waits again');

my $id = eval { $s->session };
ok(defined $id, 'who needs its place does not wait for it');
end($id);

# ---- two at once, and one killed ----

$s->stop_retortd;
$s->start_retortd;
$s->wait_ready;

my ($one, $two) = map { $s->session } 1, 2;
my @of = map { of($_) } $one, $two;
isnt($of[0], $of[1], 'two sessions at once are two containers');
$s->run('v = "alive"', sandbox_id => $two);
$e->docker('kill', $of[0]);
ok($s->until_true(sub { !grep { $_ eq $of[0] } $s->containers }), 'one is killed');
is($s->run('print(v)', sandbox_id => $two)->{stdout}, "alive\n",
    '... the other does not notice');
end($two);

my $three = $s->session;
is(of($three), $of[1], 'a session after it has what there is');
is($s->run('import os; os.kill(-1, 9); os.kill(os.getpid(), 9)',
    sandbox_id => $three)->{status}, 'killed', 'it kills all that it can');
end($three);
is($s->run('print(3)')->{stdout}, "3\n", '... and who comes next works');

# ---- what cannot be emptied ----

for (['cannot be read', 'mkdir -p d/e; chmod 0 d'],
     ['is too deep', 'for i in $(seq 25); do n=$(printf %0200d $i); mkdir $n; '
         . 'cd $n || break; done'])
{
    my ($how, $code) = @$_;
    my $bad = $s->session;
    my $was = of($bad);

    $s->bash($code, sandbox_id => $bad);
    end($bad);
    ok($s->until_true(sub { !grep { $_ eq $was } $s->containers }),
        "a folder that $how is the end of its container");
    is($s->run('import os; print(os.listdir("."))')->{stdout}, "[]\n",
        '... and the next one is clean');
}

# ---- one that is killed while it waits; a front ----

ok($s->until_true(sub { scalar(() = $s->containers) == 1 }), 'one waits');
$e->docker('kill', $s->containers);
ok($s->until_true(sub { !$s->containers }), '... and is killed');
is($s->run('print(4)')->{stdout}, "4\n", '... nobody is given it');

kill 'KILL', $s->process('retort-front');
ok($s->until_true(sub { !$s->containers }), 'with the front it ends: whose it was is lost');
ok($s->until_true(sub { ($s->run('print(5)')->{stdout} // '') eq "5\n" }),
    '... and work goes on');
$s->end;

# ---- for how long; the pool ----

$s = Retort::Service->new(profiles => { default => { docker_reuse => '1s',
    ready => 1, import => '' } });
ok($s->until_true(sub { scalar(() = $s->containers) == 1 }),
    'a container waits before anybody asks');

my ($ready) = $s->containers;
$id = $s->session;
is(of($id), $ready, '... and has the first session');
ok($s->until_true(sub { scalar(() = $s->containers) == 2 }), '... another takes its place');
end($id);
ok($s->until_true(sub { !grep { $_ eq $ready } $s->containers }),
    'nobody comes: the first one ends');
is($s->run('print(7)')->{stdout}, "7\n", '... and the pool serves who comes later');
$s->end;

done_testing();
