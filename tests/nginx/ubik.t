#!/usr/bin/perl

# Tokens of Ubik's end users at the worker: whom they let in and as whom.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256 hmac_sha256_hex sha256_hex);
use JSON::PP;
use MIME::Base64 qw(encode_base64url);
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $secret = '0123456789abcdef0123456789abcdef';
my $old = 'o' x 64;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    retort_auth_key_file keys;
    server {
        listen 127.0.0.1:%%PORT%%;
        retort_artifacts_secret secret;
        location /ubik/ {
            retort_api ubik;
            retort_pass unix:%%DIR%%/front.sock;
        }
        location /gpu/ {
            retort_api ubik;
            retort_profile gpu;
            retort_pass unix:%%DIR%%/front.sock;
        }
        location /e2b/ {
            retort_api e2b;
            retort_pass unix:%%DIR%%/front.sock;
        }
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
    }
}
EOC

$ng->write('keys', 'alice:' . sha256_hex('key') . "\n"
    . 'bob:' . sha256_hex('narrow') . "::execute\n");
$ng->write('secret', "$secret\n$old\n");
chmod 0600, $ng->dir . '/secret';

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    $req->stdin;
    $req->answer('Content-Type: application/json', '{}');
});

$ng->start;


sub tag { substr hmac_sha256_hex("retort-tag $_[0]", $_[1] // $secret), 0, 16 }

# as the front makes one; what is not said is good

sub token {
    my (%o) = @_;
    my $tag = $o{tag} // tag($o{of} // 'alice', $o{secret});
    my $key = hmac_sha256("retort-key $tag", $o{secret} // $secret);
    my %claims = (iss => 'retort', workspace => 'alice', profile => 'default',
        sub => 'u 1', scope => 'execute,files', exp => time + 600,
        %{ $o{claims} // {} });
    my $head = $o{head} // qq({"alg":"HS256","typ":"JWT","kid":"$tag"});
    my $text = join '.', map { encode_base64url($_) } $head, $o{payload}
        // encode_json({ map { ($_ => $claims{$_}) }
                         grep { defined $claims{$_} } keys %claims });

    return "$text." . encode_base64url($o{mac} // hmac_sha256($text, $key));
}

sub status {
    my ($path, $token) = @_;
    return $ng->post($path, '{}', Authorization => "Bearer $token")->{status};
}

my $n = 0;

sub asked {
    my ($path, @head) = @_;
    my $query = 'n' . ++$n;
    my $r;

    $ng->post("$path?$query", '{}', @head);
    $ng->wait_for(sub {
        ($r) = grep { $_->{params}{QUERY_STRING} eq $query } $front->requests;
    });

    return @{ $r->{params} }{qw(RETORT_WORKSPACE RETORT_END_USER
                                RETORT_SCOPE)};
}

is_deeply [asked('/ubik/tools', Authorization => 'Bearer ' . token())],
    ['alice', 'u 1', 'execute,files'], 'a token is its workspace and its user';
is_deeply [asked('/ubik/tools', 'X-API-Key' => 'key', 'Retort-End-User' => 'x',
                 'Retort-Scope' => 'admin')],
    ['alice', undef, 'execute,files'], 'a key is all of the workspace';
is_deeply [asked('/ubik/tools', 'X-API-Key' => 'narrow')],
    ['bob', undef, 'execute'], 'the front is told what a key may do';
is status('/ubik/tools', token(secret => $old)), 200,
    'an older secret verifies';
is status('/ubik/files', token()), 200, 'files are files';
is status('/ubik/files', token(claims => { scope => 'execute' })), 403,
    'which not every token opens';

my $good = token();

for my $row (
    [token(mac => 'x' x 32), 'a signature of nobody'],
    [token(mac => ''), 'none'],
    [substr($good, 0, -2), 'half of one'],
    ["$good.x", 'one with more behind it'],
    [token(secret => 'x' x 32), 'one by another secret'],
    [token(of => 'bob'), 'one with the key of another workspace'],
    [token(claims => { workspace => 'bob' }), 'one that names another'],
    [token(claims => { workspace => '../a' }), 'one that names none'],
    [token(claims => { profile => 'gpu' }), 'one for another profile'],
    [token(claims => { exp => time - 1 }), 'one that has expired'],
    [token(claims => { exp => undef }), 'one that never does'],
    [token(claims => { exp => 'x' }), 'one with a strange end'],
    [token(claims => { sub => undef }), 'one of no user'],
    [token(claims => { scope => undef }), 'one without scopes'],
    [token(claims => { scope => 'admin' }), 'one with scopes that none has',
     403],
    [token(payload => '[]'), 'a list'],
    [token(payload => '{"workspace":"alice","workspace":"bob","sub":"a",'
        . '"profile":"default","scope":"execute","exp":9999999999}'),
     'one with two workspaces'],
    [token(head => '{"alg":"none","typ":"JWT","kid":"' . tag('alice') . '"}'),
     'the algorithm none'],
    [token(head => '{"typ":"JWT","alg":"HS256","kid":"' . tag('alice') . '"}'),
     'a header that is not ours'],
    [token(payload => 'x' x 2000), 'a huge one'],
    ['..', 'dots'],
) {
    my ($token, $what, $status) = @$row;
    is status('/ubik/tools', $token), $status // 401, "refused: $what";
}

is status('/gpu/tools', $good), 401, 'refused: at another profile';
is status('/e2b/sandboxes', $good), 401, 'refused: by another api';
is status('/v1/execute', $good), 401, 'refused: by the native one';

$front->stop;
$ng->stop;
done_testing;
