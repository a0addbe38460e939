#!/usr/bin/perl

# E2B's clients at the worker: a token opens one sandbox and nothing else, and
# a stream whose front goes away ends in words that they read.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256 hmac_sha256_hex sha256_hex);
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $secret = '0123456789abcdef0123456789abcdef';
my $old = 'o' x 64;
my $id = 'sbx_local_' . 'a' x 32;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    retort_auth_key_file keys;
    server {
        listen 127.0.0.1:%%PORT%%;
        retort_artifacts_secret secret;
        location /e2b/ { retort_api e2b; retort_pass unix:%%DIR%%/front.sock; }
        location /gpu/ {
            retort_api e2b;
            retort_profile gpu;
            retort_pass unix:%%DIR%%/front.sock;
        }
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
    }
}
EOC

$ng->write('keys', 'alice:' . sha256_hex('key') . "\n");
$ng->write('secret', "$secret\n$old\n");
chmod 0600, $ng->dir . '/secret';

my $stream = '{"type":"stdout","text":"4\n"}' . "\n"
    . '{"type":"stdout","text":"half';

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    $req->stdin;

    if ($req->{params}{QUERY_STRING} eq 'cut') {
        $req->raw($req->out("Content-Type: application/x-ndjson\r\n"
            . "X-Retort-Form: ndjson\r\n\r\n$stream"));
        $req->close;
        return;
    }

    $req->answer('Content-Type: application/json', '{}');
});

$ng->start;


sub token {
    my ($workspace, $sandbox, %o) = @_;
    my $s = $o{secret} // $secret;
    my $tag = substr hmac_sha256_hex("retort-tag $workspace", $s), 0, 16;
    my $key = hmac_sha256("retort-key $tag", $s);
    my $text = 'retort-sandbox ' . ($o{profile} // 'default') . " $sandbox";

    return "$workspace." . substr hmac_sha256_hex($text, $key), 0, 32;
}


sub status {
    my ($path, %h) = @_;
    return $ng->post($path, '{}', %h)->{status};
}

# the same, and the params that the front has seen of this request

my $n = 0;

sub asked {
    my ($path, @head) = @_;
    my $query = 'n' . ++$n;
    my $got = status("$path?$query", @head);
    my $r;

    $ng->wait_for(sub {
        ($r) = grep { $_->{params}{QUERY_STRING} eq $query } $front->requests;
    });

    return ($got, $r->{params});
}

my %in = ('E2b-Sandbox-Id' => $id);
my $good = token('alice', $id);

my ($got, $p) = asked('/e2b/execute', %in, 'X-Access-Token' => $good);
is $got, 200, 'a token is let in';
is_deeply [@$p{qw(RETORT_WORKSPACE RETORT_SANDBOX)}], ['alice', $id],
    'for its workspace and its sandbox';
is_deeply [grep { /TOKEN/ } keys %$p], [], 'and stays with the worker';
is status('/e2b/contexts', %in, 'E2B-Traffic-Access-Token' => $good), 200,
    'by its other name, too';
is status('/e2b/execute', %in, 'X-Access-Token' =>
          token('alice', $id, secret => $old)), 200, 'and by an older secret';
($got, $p) = asked('/e2b/execute', %in, 'X-API-Key' => 'key');
is $got, 200, 'a key is, as ever';
is $p->{RETORT_SANDBOX}, undef, 'for all that the workspace has';
($got, $p) = asked('/e2b/execute', %in, 'X-API-Key' => 'key',
                   'Retort-Sandbox' => $id);
is $got, 200, 'nobody says so by himself';
is $p->{RETORT_SANDBOX}, undef, 'but the worker';

for ([{ %in }, 'none'],
     [{ %in, 'X-Access-Token' => '' }, 'an empty one'],
     [{ %in, 'X-Access-Token' => '.' }, 'a dot'],
     [{ %in, 'X-Access-Token' => substr $good, 6 }, 'half of one'],
     [{ %in, 'X-Access-Token' => "${good}0" }, 'one with more behind it'],
     [{ %in, 'X-Access-Token' => uc $good }, 'another case'],
     [{ %in, 'X-Access-Token' => 'bob' . substr $good, 5 },
      'one of another workspace'],
     [{ %in, 'X-Access-Token' => token('alice', $id, secret => 'x' x 32) },
      'one by another secret'],
     [{ %in, 'X-Access-Token' => token('alice', $id, profile => 'gpu') },
      'one for another profile'],
     [{ 'E2b-Sandbox-Id' => substr($id, 0, -1) . 'b',
        'X-Access-Token' => $good }, 'one for another sandbox'],
     [{ 'X-Access-Token' => $good }, 'one without its sandbox'],
     [{ %in, 'X-Access-Token' => $good, 'X-API-Key' => 'wrong' },
      'a wrong key beside it'])
{
    is status('/e2b/execute', %{ $_->[0] }), 401, "refused: $_->[1]";
}

is $ng->request('POST', '/e2b/execute', { 'X-Access-Token' => $good,
    'E2b-Sandbox-Id' => "$id\r\nE2b-Sandbox-Id: sbx_local_" . 'b' x 32 },
    '{}')->{status}, 401, 'refused: two sandboxes';
is status('/gpu/execute', %in, 'X-Access-Token' => $good), 401,
    'refused: elsewhere';
is status('/v1/execute', %in, 'X-Access-Token' => $good), 401,
    'another api knows no tokens';

my $r = $ng->post('/e2b/execute?cut', '{}', %in, 'X-Access-Token' => $good);
is $r->{body}, "$stream\"}\n{\"type\":\"error\",\"name\":\"Lost\",\"value\":"
    . '"the run was lost: the service that ran it went away",'
    . "\"traceback\":\"\"}\n{\"type\":\"end_of_execution\"}\n",
    'a stream that was lost ends with an error';

$front->stop;
$ng->stop;
done_testing;
