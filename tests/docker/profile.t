#!/usr/bin/perl

# What a profile chooses of a container: its image, by what is in it, and its
# runtime; and what becomes of a choice that cannot be.

use strict;
use warnings;

use FindBin;
use Test::More;

use lib "$FindBin::Bin/../lib";

BEGIN { $ENV{RETORT_BACKEND} = 'docker' }

use Retort::Service;

my $e = Retort::Engine->get;
my $id = $e->image;
my $tag = 'retort-test-tag:latest';

$e->docker('tag', $id, $tag);

my $s = Retort::Service->new(stopped => 1, alerts => qr/./, profiles => {
    default => { import => '', ready => 0 },
    runtime => { import => '', ready => 0,
                 docker_runtime => 'io.containerd.runc.v2' },
    strange => { import => '', ready => 0, docker_runtime => 'no-such-runtime' },
    tagged => { import => '', ready => 0, docker_image => $tag },
    short => { import => '', ready => 0, docker_image => substr $id, 0, 19 },
});

$s->{location} = join '', map { <<"CONF" } qw(runtime strange tagged short);
location /$_/ {
    retort_api native; retort_profile $_;
    retort_pass unix:$s->{dir}/run/front.sock;
    retort_auth_key_file $s->{dir}/keys;
}
CONF
$s->configure;
$s->start_retortd;
$s->start_nginx;

my $r;

ok($s->until_true(sub {
    $r = $s->run('print(1)');
    return ($r->{stdout} // '') eq "1\n";
}, 90), 'a profile with an image by its digest runs') or diag explain $r;

sub session { $s->json('POST', "/$_[0]/sandboxes", {}) }

my ($status, $made);

ok($s->until_true(sub {
    ($status, $made) = session('runtime');
    return $status == 201;
}, 90), 'one with a runtime of its own, too') or diag explain $made;

# the one of the run before may not have ended yet
my %runtimes = map { (($e->inspect($_) // {})->{HostConfig}{Runtime} // "gone") => 1 }
    $s->containers;
ok($runtimes{'io.containerd.runc.v2'}, '... and that is what it has')
    or diag explain \%runtimes;
$s->json('DELETE', "/v1/sandboxes/$made->{sandbox_id}");

ok($s->until_true(sub {
    ($status, $made) = session('strange');
    return "$status $made->{error}{code}" eq '503 engine_away';
}, 60), 'a runtime that the engine has not: no sandbox') or diag explain $made;
ok($s->until_true(sub { $s->log =~ /no-such-runtime/ }),
    '... and the log says what is missing');

for my $profile (qw(tagged short)) {
    ok($s->until_true(sub { (session($profile))[0] == 503 }, 60),
        "an image that is \"$profile\" gives no sandbox");
}

like($s->log, qr/docker_image is missing, or not by its digest/,
    '... the log says what it should be');
ok($s->until_true(sub { !$s->containers }), 'nothing runs instead');

$s->end;
$e->docker('rmi', $tag);
done_testing();
