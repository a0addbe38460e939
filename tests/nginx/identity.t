#!/usr/bin/perl

# Who asks, by the word of others: a signed header, peers that are trusted, and
# nginx's own auth_request and auth_basic.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256_hex sha256_hex);
use IO::Socket::UNIX;
use MIME::Base64 qw(encode_base64);
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new;
my $dir = $ng->dir;

my ($new, $old) = ('n' x 32, 'o' x 40);

$ng->write('secret', "$new\n$old\n");
chmod 0600, "$dir/secret";
$ng->write('keys', 'keyed:' . sha256_hex('key') . "\n");

$ng->write('users', "anna:{PLAIN}right\n");

$ng->conf(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    retort_auth_signed secret window=60s;

    server {
        listen 127.0.0.1:%%PORT%%;
        listen unix:%%DIR%%/nginx.sock;

        location /signed/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_auth_key_file keys;
            retort_workspace $arg_w;
        }
        location /peer/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_auth_signed off;
            retort_auth_peers 10.0.0.0/8 unix:;
            retort_workspace $http_x_workspace;
        }
        location /near/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_auth_peers 127.0.0.0/8 ::1;
            retort_workspace near;
        }
        location /asked/ {
            auth_request /who;
            auth_request_set $who $upstream_http_x_who;
            retort_pass unix:%%DIR%%/front.sock;
            retort_workspace $who;
        }
        location /basic/ {
            auth_basic all;
            auth_basic_user_file users;
            retort_pass unix:%%DIR%%/front.sock;
            retort_workspace $remote_user;
        }
        location /any/ {
            satisfy any;
            auth_basic all;
            auth_basic_user_file users;
            retort_pass unix:%%DIR%%/front.sock;
            retort_workspace $remote_user;
        }
        location = /who {
            internal;
            proxy_pass http://127.0.0.1:%%PORT2%%/?w=$http_cookie;
            proxy_pass_request_body off;
            proxy_set_header Content-Length "";
        }
    }
    server {
        listen 127.0.0.1:%%PORT2%%;
        location / {
            if ($arg_w = "") { return 401; }
            if ($arg_w = "banned") { return 403; }
            add_header X-Who $arg_w;
            return 204;
        }
    }
}
EOC

my $front = Retort::FakeFront->new("$dir/front.sock", sub {
    my $req = shift;
    $req->stdin;
    $req->answer('Content-Type: text/plain', $req->{params}{RETORT_WORKSPACE});
});

$ng->start;


sub of { my $res = shift; return $res->{status} == 200 ? $res->{body} : $res->{status} }

sub sign {
    my ($said, $line, $secret) = @_;
    return "$said:" . hmac_sha256_hex("retort-identity $said $line",
                                      $secret // $new);
}

sub signed {
    my ($expect, $name, $header, $uri, %more) = @_;
    my $res = $ng->post($uri // '/signed/execute?a=1', '{}', %more,
                        defined $header ? ('X-Retort-Identity' => $header) : ());
    is of($res), $expect, $name;
}


# the vector of ngx_module/README.md

is sign('2000000000:demo:execute,files', 'POST /v1/execute?a=1',
        '0123456789abcdef0123456789abcdef'),
    '2000000000:demo:execute,files:97dc64437292efe039458ddae7ab1d88deb253e8'
    . 'e281a5883871dff9555b38c7', 'the vector of the reference';

my $now = time;
my $line = 'POST /signed/execute?a=1';
my $good = sign("$now:gateway:", $line);

signed('gateway', 'a signed header', $good);
signed('gateway', 'signed by the secret before', sign("$now:gateway:", $line, $old));
signed('gateway', 'with scopes', sign("$now:gateway:execute,files", $line));
signed(403, 'with scopes that do not do', sign("$now:gateway:files", $line));
signed('gateway', 'the clock may differ by the window', sign("$_:gateway:", $line))
    for $now - 30, $now + 30;
signed(401, 'but by no more', sign("$_:gateway:", $line))
    for $now - 90, $now + 90, 0, '', '9' x 12, '9' x 13, "+$now", " $now";
signed(401, 'by another secret', sign("$now:gateway:", $line, 'x' x 32));
signed(401, 'for another method', sign("$now:gateway:", $line =~ s/POST/GET/r));
signed(401, 'for another path', $good, '/signed/execute');
signed(401, 'for another query', $good, '/signed/execute?a=2');
signed(401, 'for another spelling', $good, '/signed/execut%65?a=1');
signed(401, 'with another workspace', $good =~ s/gateway/getaway/r);
signed(401, 'with scopes put in', $good =~ s/gateway:/gateway:admin/r);
signed(401, 'with a scope that nobody knows', sign("$now:gateway:root", $line));
signed(401, 'with a name that is none', sign("$now:$_:", $line))
    for 'a b', '', 'a/b', 'w' x 65;
signed(401, 'malformed', $_) for ':', ':::', 'x', substr($good, 0, -1), "$good ,",
    uc $good, "$good:", '';
signed('me', 'a variable, without such a header', undef, '/signed/execute?w=me');
signed(401, 'a wrong header is not passed over', 'x', '/signed/execute?w=me');
signed('keyed', 'a key comes first', $good, undef, 'x-api-key' => 'key');
signed(401, 'even a wrong one', $good, undef, 'x-api-key' => 'wrong');

{
    my $s = $ng->connect;
    print $s join "\r\n", 'POST /signed/execute?a=1 HTTP/1.1', 'Host: l',
        'Content-Length: 2', "X-Retort-Identity: $good",
        "x-retort-identity: $good", '', '{}';
    is $ng->response($s)->{status}, 401, 'two such headers are none';
}

ok !(grep { exists $_->{params}{HTTP_X_RETORT_IDENTITY} } $front->requests),
    'the front does not see the header';

# peers

my %claim = ('X-Workspace' => 'claimed', 'X-Retort-Identity' => $good);

is of($ng->post('/peer/x', '{}', %claim)), 401,
    'a peer that is not trusted may say what it likes';
is of($ng->post('/near/x', '{}')), 'near', 'one that is counts';

my $unix = IO::Socket::UNIX->new("$dir/nginx.sock") or die $!;
print $unix "POST /peer/x HTTP/1.1\r\nHost: l\r\nX-Workspace: by-unix\r\n"
    . "Content-Length: 2\r\nConnection: close\r\n\r\n{}";
is of($ng->response($unix)), 'by-unix', 'a Unix socket is a peer, too';

$unix = IO::Socket::UNIX->new("$dir/nginx.sock") or die $!;
print $unix "POST /near/x HTTP/1.1\r\nHost: l\r\nContent-Length: 2\r\n"
    . "Connection: close\r\n\r\n{}";
is of($ng->response($unix)), 401, 'and not the same as an address';

# auth_request

is of($ng->post('/asked/x', '{}', Cookie => 'anna')), 'anna',
    'whom auth_request names';
is of($ng->post('/asked/x', '{}')), 401, 'nobody, if it does not know';
is of($ng->post('/asked/x', '{}', Cookie => 'banned')), 403,
    'or does not want to';
is of($ng->post('/asked/x', '{}', Cookie => 'a/b')), 403, 'or names it badly';

# auth_basic

for ('/basic/x', '/any/x') {
    is of($ng->post($_, '{}', Authorization => 'Basic '
                    . encode_base64('anna:right', ''))), 'anna',
        "$_: whose password is right";
    is of($ng->post($_, '{}', Authorization => 'Basic '
                    . encode_base64('anna:wrong', ''))), 401,
        'a name is nobody without its password';
}

$front->stop;
$ng->finish;
done_testing;
