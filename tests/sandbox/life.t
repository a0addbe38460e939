#!/usr/bin/perl

# How real sessions end, and what of their artifacts stays: with everything
# that there is between a client and a sandbox.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Temp;
use Test::More;
use Time::HiRes qw(sleep time);

use Retort::Service;

plan skip_all => 'needs root' if $> != 0;

my $secret = File::Temp->new;
print $secret 'k' x 40, "\n";
close $secret;

my $s = Retort::Service->new(
    profiles => {
        default => { ready => 2 },
        exit => { life => 'exit', alive => '5m', ttl => '1s 1s', ready => 0 },
        short => { alive => '4s', ready => 0 },
    },
    conf => { artifacts_quota => '2m' },
    nginx => "retort_artifacts_secret $secret;",
    stopped => 1);

$s->{location} = join '', map { <<"EOC" } qw(exit short);
    location /$_/ {
        retort_pass unix:$s->{dir}/run/front.sock;
        retort_auth_key_file $s->{dir}/keys;
        retort_profile $_;
    }
EOC

$s->configure;
$s->start;

sub run {
    my ($where, $box, $code) = @_;
    my ($status, $r) = $s->json('POST', "/$where/execute",
                                { code => $code, $box ? (sandbox_id => $box)
                                                      : (keep => \1) });
    return { %$r, http => $status };
}

sub sum { return join ' ', @{$_[0]}{qw(status state)} }

# until the interpreter ends

my $r = run('exit', undef, 'x = 1');
my $box = $r->{sandbox_id};
is(sum($r), 'ok kept', 'a session that lives until its interpreter ends');
sleep 1.5;
is(run('exit', $box, 'x')->{result}, '1', 'is kept without any use');
is(sum(run('exit', $box, 'import sys; sys.exit(3)')), 'error kept',
   'sys.exit() is not the end of an interpreter');
is(sum(run('exit', $box, '1/0')), 'error kept', 'nor is an exception');
is(sum(run('exit', $box, 'import os; os._exit(3)')), 'killed gone',
   'os._exit() is');
is(run('exit', $box, 'x')->{http}, 410, 'and ends the session');

$box = run('exit', undef, 'import os, threading
threading.Timer(0.3, os._exit, (1,)).start()')->{sandbox_id};
ok($s->until_true(sub { ($s->json('GET', "/exit/sandboxes/$box"))[0] == 410 }),
   'so does an end between two runs');

ok($s->until_true(sub { $s->sandboxes == 2 || !$s->cgroups }),
   'nothing of it is left but what waits');

# the default goes on after that

$box = run('v1', undef, 'x = 1')->{sandbox_id};
is(sum(run('v1', $box, 'import os; os._exit(3)')), 'killed restored',
   'a timed session is put back');
is(sum(run('v1', $box, 'x + 1')), 'ok kept', 'and goes on');

# age

$box = run('short', undef, 'x = 1')->{sandbox_id};
my $began = time;
$r = run('short', $box, 'import time; time.sleep(20)');
is(sum($r), 'killed gone', 'what runs when a session is of age ends with it');
cmp_ok(time - $began, '<', 15, 'at once');
is(run('short', $box, 'x')->{http}, 410, 'and it is gone');

# artifacts

my $plot = 'import matplotlib.pyplot as p; p.plot([1, 2, 3]); p.show()';
my @url = map { $s->run($plot)->{artifacts}[0]{url} } 1 .. 2;
my ($name) = $url[0] =~ m{/static/(\w+\.png)\?};
my $file = "$s->{dir}/artifacts/$name";

is($url[1] =~ m{(\w+\.png)} && $1, $name, 'equal plots are one file');
is($s->get($url[0] =~ s{^http://[^/]+}{}r)->{status}, 200, 'its link is good');
is($s->get("/static/$name")->{status}, 403, 'and nothing less than it');
is(sprintf('%o', (stat $file)[2] & 07777), '640', 'others cannot read the file');

my @web = qw(setpriv --reuid www-data --regid www-data --clear-groups test -r);
is(system(@web, $file), 0, 'the web server can');
isnt(system(@web, "$s->{dir}/artifacts/.secret"), 0, 'but not the secret of names');
ok(-s "$s->{dir}/artifacts/.secret", 'which is there');

$r = $s->run('import io
from IPython.display import Image, display
for i in range(3):
    display(Image(b"\x89PNG\r\n\x1a\n" + bytes([i]) * 1000000))');
is(scalar @{$r->{artifacts}}, 2, 'what is within the quota is stored')
    or diag explain $r->{outputs};
like($r->{outputs}[2]{not_stored}, qr/^the workspace's store is full/,
     'what is not says why');
is($r->{status}, 'ok', 'and the run is fine');

kill 'KILL', $s->process('retort-front');
ok($s->until_true(sub { $s->get('/health')->{status} == 200 }), 'another front');
is($s->run($plot)->{artifacts}[0]{url} =~ m{(\w+\.png)} && $1, $name,
   'gives the same names');

$s->end;
done_testing;
