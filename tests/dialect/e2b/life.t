#!/usr/bin/perl

# When a sandbox of E2B's clients ends: at the time that they were told.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use HTTP::Tiny;
use JSON::PP;
use POSIX ();
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1);

Retort::Service::write_file("$s->{dir}/secret", 's' x 40 . "\n", 0600);
$s->{location} = <<"CONF";
location /e2b/ {
    retort_api e2b;
    retort_pass unix:$s->{dir}/run/front.sock;
    retort_auth_key_file $s->{dir}/keys;
    retort_artifacts_secret $s->{dir}/secret;
}
CONF
$s->configure;
$s->start;

my $json = JSON::PP->new->utf8->canonical;


sub ask {
    my ($method, $path, $body, @head) = @_;
    my $r = $s->request($method, "/e2b$path", $body ? $json->encode($body)
        : '', 'content-type' => 'application/json', @head);

    $r->{json} = eval { $json->decode($r->{content}) };
    return $r;
}

sub make { ask('POST', '/v2/sandboxes', { timeout => $_[0] })->{json} }

sub end_of { ask('GET', "/sandboxes/$_[0]")->{json}{endAt} // 'gone' }

sub run {
    my ($id, $code) = @_;
    ask('POST', '/execute', { code => $code }, 'e2b-sandbox-id' => $id)
        ->{content};
}

my $box = make(300);
my $id = $box->{sandboxID};
my $end = $box->{endAt};

run($id, 'x = 1');
is(end_of($id), $end, 'a run does not move the end');
ask('GET', '/health', undef, 'e2b-sandbox-id' => $id);
is(end_of($id), $end, 'nor does a look');

my $r = ask('POST', "/sandboxes/$id/connect", { timeout => 60 });
is("$r->{status} $r->{json}{endAt}", "200 $end",
   'who connects for less time does not make it earlier');
$r = ask('POST', "/v2/sandboxes/$id/connect", { timeout => 500 });
cmp_ok($r->{json}{endAt}, 'gt', $end, 'for more, he makes it later');
is(ask('POST', "/sandboxes/$id/timeout", { timeout => 120 })->{status}, 204,
   'a timeout is set');
cmp_ok(end_of($id), 'lt', $end, 'to less, if that is wanted');
is(ask('POST', "/sandboxes/$id/timeout", { timeout => 601 })->{status}, 400,
   'but not to more than may be');

# a front that dies takes no time with it and gives none

$end = end_of($id);
my $front = $s->process('retort-front');
kill 'KILL', $front;
ok($s->until_true(sub {
    my $pid = $s->process('retort-front');
    $pid && $pid != $front && end_of($id) ne 'gone';
}), 'another front comes');
is(end_of($id), $end, 'and knows the same end');
like(run($id, 'x'), qr/"text":"1"/, 'of the same sandbox');

# the end does not wait for who is at work

$box = make(300);
pipe my $begun, my $tell or die;
my $pid = fork // die;

if ($pid == 0) {
    my $said = '';

    HTTP::Tiny->new(timeout => 120)->request('POST', $s->url('/e2b/execute'), {
        headers => { authorization => "Bearer $s->{key}",
                     'content-type' => 'application/json',
                     'e2b-sandbox-id' => $box->{sandboxID} },
        content => $json->encode({ code => 'print("on", flush=True)' . "\n"
                                   . 'import time; time.sleep(300)' }),
        data_callback => sub {
            $said .= $_[0];
            syswrite $tell, 'x' if $_[0] =~ /"stdout"/;
        },
    });
    POSIX::_exit($said =~ /"name":"Killed"/ ? 0 : 1);
}

close $tell;
is(sysread($begun, my $x, 1), 1, 'something runs');
is(ask('POST', "/sandboxes/$box->{sandboxID}/timeout", { timeout => 1 })
   ->{status}, 204, 'its end is near');
waitpid $pid, 0;
is($?, 0, 'a run ends with its sandbox, and is told so');
is(end_of($box->{sandboxID}), 'gone', 'which is gone');

$box = make(1);
ok($s->until_true(sub { end_of($box->{sandboxID}) eq 'gone' }),
   'one that is asked after all the time ends as well');

$s->end;
done_testing;
