#!/usr/bin/perl

# Who asks, and may it: keys, variables, profiles; decided before the body.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP;
use Test::More;
use Time::HiRes qw(time);

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    error_page 401 403 /login.html;
    client_max_body_size 100m;
    server {
        listen 127.0.0.1:%%PORT%%;

        location /v1/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_auth_key_file keys;
        }
        location /gpu/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_auth_key_file keys;
            retort_profile gpu;
        }
        location /var/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_workspace $arg_w;
        }
        location /both/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_auth_key_file keys;
            retort_workspace $arg_w;
        }
        location /any/ {
            satisfy any;
            allow all;
            retort_pass unix:%%DIR%%/front.sock;
            retort_auth_key_file keys;
        }
        location /sub/ {
            add_before_body /v1/inner;
            retort_pass unix:%%DIR%%/front.sock;
            retort_workspace outer;
        }
        location /health {
            retort_pass unix:%%DIR%%/front.sock;
            retort_api health;
            retort_auth_key_file keys;
        }
    }
}
EOC

my %key = (alice => 'a' x 40, bob => 'b' x 55, carol => 'c' x 56,
           dave => 'd' x 64, erin => 'e' x 119, frank => 'f' x 300, g => '');
my %rest = (bob => ':default', carol => ':gpu,other', dave => ':default,gpu');

$ng->write('keys', "# keys\n\n" . join '', map {
    "$_:" . sha256_hex($key{$_}) . ($rest{$_} // '') . "\r\n"
} sort grep { $_ ne 'g' } keys %key);

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    $req->stdin;
    $req->answer('Content-Type: text/plain',
                 $req->{params}{RETORT_WORKSPACE} // 'nobody');
});

$ng->start;


sub who {
    my ($uri, $header, $status, $workspace, $name) = @_;

    my $res = $ng->post($uri, '{}', %$header);
    my $body = $status == 200 ? $workspace
        : eval { decode_json($res->{body})->{error}{code} };

    is_deeply [$res->{status}, $res->{body}],
        [$status, $status == 200 ? $workspace : $res->{body}], $name;

    return if $status == 200;

    is $body, { 401 => 'unauthorized', 403 => 'forbidden' }->{$status},
        'as a JSON error, whatever the site shows people';
    is $res->{header}{'content-type'}, 'application/json', 'of that type';
    my $bad = grep { /^x-(?:api-key|ms-apikey)$/i || $header->{$_} =~ /^bearer ./i }
        keys %$header;

    is $res->{header}{'www-authenticate'}, $status == 403 ? undef
        : $bad ? 'Bearer error="invalid_token"' : 'Bearer',
        'which asks for a key, or for a better one, or not';
}


for my $name (sort grep { $_ ne 'g' && $_ ne 'carol' } keys %key) {
    who('/v1/x', { Authorization => "Bearer $key{$name}" }, 200, $name,
        "a key of " . length($key{$name}) . ' bytes is known');
}

who('/v1/x', { 'authorization' => "bEARER   $key{alice}" }, 200, 'alice',
    'the scheme may be written in any case');
who('/v1/x', { 'X-API-Key' => $key{bob} }, 200, 'bob', 'x-api-key');
who('/v1/x', { 'x-ms-apikey' => $key{dave} }, 200, 'dave', 'x-ms-apikey');
who('/v1/x', { 'x-api-key' => $key{bob}, Authorization => "Bearer $key{dave}" },
    200, 'dave', 'Authorization comes first');

who('/v1/x', {}, 401, undef, 'no key');
who('/v1/x', { Authorization => 'Bearer wrong' }, 401, undef, 'a wrong key');
who('/v1/x', { Authorization => 'Bearer ' }, 401, undef, 'an empty key');
who('/v1/x', { Authorization => "Basic $key{alice}" }, 401, undef,
    'another scheme');
who('/v1/x', { 'X_Api_Key' => $key{bob} }, 401, undef, 'another header');
who('/v1/x', { 'x-api-key' => "$key{alice}x" }, 401, undef, 'a longer key');
who('/v1/x', { 'x-api-key' => sha256_hex($key{alice}) }, 401, undef,
    'the hash of a key');
who('/v1/x', { 'x-api-key' => 'wrong', Authorization => "Bearer $key{dave}" },
    200, 'dave', 'only the first key counts');

who('/gpu/x', { 'x-api-key' => $key{alice} }, 200, 'alice',
    'a key without profiles may use every one');
who('/gpu/x', { 'x-api-key' => $key{carol} }, 200, 'carol', 'one that lists it');
who('/gpu/x', { 'x-api-key' => $key{bob} }, 403, undef, 'one that does not');
who('/v1/x', { 'x-api-key' => $key{carol} }, 403, undef,
    'the default profile is a profile, too');

who('/var/x?w=team-1.a_B', {}, 200, 'team-1.a_B', 'a variable');
who('/var/x?w=' . 'w' x 64, {}, 200, 'w' x 64, 'of 64 characters');
who('/var/x', {}, 401, undef, 'an empty variable');
who("/var/x?w=$_", {}, 403, undef, "a malformed workspace, $_")
    for 'a%20b', 'a/b', 'w' x 65, 'a:b', "\xc3\xa9";
who('/var/x?w=me', { 'x-api-key' => 'wrong' }, 200, 'me',
    'keys do not count where there is no key file');

who('/both/x?w=me', {}, 200, 'me', 'of both, the variable without a key');
who('/both/x?w=me', { 'x-api-key' => $key{bob} }, 200, 'bob', 'the key if given');
who('/both/x?w=me', { 'x-api-key' => 'wrong' }, 401, undef, 'even a wrong one');

who('/any/x', {}, 401, undef, '"satisfy any" makes no identity');
who('/any/x', { 'x-api-key' => $key{bob} }, 200, 'bob', 'nor does it hide one');
who('/health', {}, 200, 'nobody', 'a probe needs none');

like $ng->access(qr{/v1/x 401}), qr/401 "-" "-"/,
    'who is refused has neither workspace nor execution';

is $ng->request('GET', '/sub/', {})->{body} =~ /alice|bob|nobody/, '',
    'a subrequest is refused as well';

# before the body

for my $header ("Content-Length: 90000000\r\nExpect: 100-continue\r\n",
                "Content-Length: 90000000\r\n",
                "Transfer-Encoding: chunked\r\n")
{
    for my $key ('', "x-api-key: $key{carol}\r\n") {
        my $s = $ng->connect;
        my $start = time;
        print $s "POST /v1/x HTTP/1.1\r\nHost: l\r\n$header$key\r\n";
        print $s "5\r\n{\"a\":" if $header =~ /chunked/;
        my $res = $ng->response($s, 'POST', 5);
        is $res->{status}, $key ? 403 : 401, 'refused before the body';
        ok !$res->{continued}, 'which is not asked for';
        close $s;
    }
}

is scalar(grep { !exists $_->{params}{RETORT_WORKSPACE}
                 && $_->{params}{RETORT_API} ne 'health' } $front->requests),
    0, 'the front never saw a request without a workspace';

$front->stop;
$ng->finish;
done_testing;
