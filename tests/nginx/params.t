#!/usr/bin/perl

# What a client can say to the front, and what it can not.

use strict;
use warnings;

use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    underscores_in_headers on;
    ignore_invalid_headers off;
    large_client_header_buffers 8 256k;
    retort_workspace demo;
    retort_limit_timeout 90s;
    retort_zone z 64k;

    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
        location /all/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_profile big.one;
            retort_azure_strict on;
            retort_azure_full 404;
            retort_import_allow numpy -turtle os.path;
            retort_static_url $scheme://$host/static//;
            retort_limit_timeout 2500ms;
            retort_limit_memory 2g;
            retort_limit_disk 512m;
            retort_limit_output 64k;
            retort_limit_image 1000;
            retort_limit_processes 32;
            retort_limit_cpu 1.5;
            retort_limits zone=z running=3;
        }
        location /cores/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_limit_cpu 2;
        }
        location /nested/ {
            retort_pass unix:%%DIR%%/front.sock;
            if ($arg_if) { set $x 1; }
            limit_except GET { allow all; }
        }
    }
}
EOC

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    $req->stdin;
    $req->answer('Content-Type: text/plain', 'ok');
});

$ng->start;


sub seen {
    my ($method, $uri, $lines, $body) = @_;

    $front->forget;
    my $s = $ng->connect;
    print $s "$method $uri HTTP/1.1\r\nHost: localhost\r\n"
        . "Connection: close\r\n$lines\r\n" . ($body // '');
    my $res = $ng->response($s, $method);
    is $res->{status}, 200, "$method $uri is answered";

    my $req = $front->last_request;
    is_deeply $req->{flags}, [], 'in records as they must be';
    return $req;
}


my $req = seen 'POST', '/v1/x', join('', map { "$_\r\n" }
    'RETORT_WORKSPACE: evil', 'Retort-Workspace: evil', 'retort-api: health',
    'RETORT_LIMIT_TIMEOUT: 1', 'SCRIPT-NAME: /evil', 'PATH_INFO: /evil',
    'Proxy: http://evil', 'Authorization: Bearer k', 'X-Api-Key: k',
    'X-Ms-Apikey: k', 'Cookie: a=b', 'Proxy-Authorization: Basic x',
    'X_Api_Key: k', 'X_Forwarded_For: evil', 'X-Forwarded-For: 1.2.3.4',
    'X.Forwarded.For: evil', 'X@Y: evil', "X\x80Y: evil",
    'Content_Length: 9', 'Content-Length: 2', 'Accept: text/plain',
    'Mcp-Session-Id: s', 'Last-Event-ID: 7'), '{}';
my $p = $req->{params};

is $p->{RETORT_WORKSPACE}, 'demo', 'a client cannot choose a workspace';
is $p->{RETORT_API}, 'native', 'nor an api';
is $p->{RETORT_LIMIT_TIMEOUT}, 90000, 'nor a limit';
is_deeply [@$p{qw(SCRIPT_NAME PATH_INFO CONTENT_LENGTH)}], ['/v1', '/x', 2],
    'nor what CGI says of the request';
is $p->{HTTP_X_FORWARDED_FOR}, '1.2.3.4', 'an underscore makes no header';
is_deeply [sort grep { /^HTTP_/ } @{$req->{order}}],
    [sort qw(HTTP_HOST HTTP_RETORT_WORKSPACE HTTP_RETORT_API HTTP_SCRIPT_NAME
             HTTP_X_FORWARDED_FOR HTTP_ACCEPT HTTP_MCP_SESSION_ID
             HTTP_LAST_EVENT_ID)],
    'the client\'s headers are these, each once, and no credential';
is_deeply [grep { !/^(?:HTTP_|RETORT_)/ } @{$req->{order}}],
    [qw(SCRIPT_NAME PATH_INFO REQUEST_METHOD QUERY_STRING REQUEST_SCHEME
        REQUEST_URI SERVER_PROTOCOL REMOTE_ADDR CONTENT_LENGTH)], 'the rest is CGI';

for my $n (0, 1, 127, 128, 129, 255, 256, 32767, 32768, 65535, 65536, 200000)
{
    my $value = 'v' x $n;
    my $p = seen('GET', '/v1/x', "X-Long: $value\r\nX-Next: n\r\n")->{params};
    is length($p->{HTTP_X_LONG} // ''), $n, "a value of $n bytes arrives";
    is $p->{HTTP_X_NEXT}, 'n', 'and the next one';
}

for my $n (120 .. 130, 30000) {
    my $name = 'X-' . 'n' x $n;
    my $p = seen('GET', '/v1/x', "$name: v\r\n")->{params};
    is $p->{'HTTP_X_' . 'N' x $n}, 'v', "a name of $n bytes arrives";
}

$req = seen('GET', '/v1/x', join '', map { "X-H$_: $_\r\n" } 1 .. 900);
is scalar(grep { /^HTTP_X_H/ } @{$req->{order}}), 900,
    'nine hundred headers arrive';

# FastCGI records inside of values and bodies are only bytes

my $evil = "\1\5\0\1\0\0\0\0\1\3\0\1\0\x08\0\0\0\0\0\0\0\0\0\0";
$req = seen('POST', '/v1/x', "Content-Length: " . length($evil) . "\r\n",
            $evil);
is $req->{stdin}, $evil, 'a body that looks like records is a body';

$p = seen('GET', '/all/', '')->{params};
is_deeply { map { $_ => $p->{$_} } grep { /^RETORT_(?:[ILPS]|AZ)/ } keys %$p }, {
    RETORT_STRICT => 1, RETORT_AZURE_FULL => 404, RETORT_PROFILE => 'big.one',
    RETORT_IMPORT_ALLOW => 'numpy -turtle os.path',
    RETORT_STATIC_URL => 'http://localhost/static',
    RETORT_LIMIT_TIMEOUT => 2500,
    RETORT_LIMIT_MEMORY => 2 << 30,
    RETORT_LIMIT_DISK => 512 << 20,
    RETORT_LIMIT_OUTPUT => 64 << 10,
    RETORT_LIMIT_IMAGE => 1000,
    RETORT_LIMIT_PROCESSES => 32,
    RETORT_LIMIT_CPU => 1500,
}, 'every ceiling is told, in the units of the wire';

is $p->{RETORT_RUNNING}, 3, 'and how many runs it may have at once';

$p = seen('GET', '/cores/', '')->{params};
ok !exists $p->{RETORT_RUNNING}, 'if there is a bound';
is $p->{RETORT_LIMIT_CPU}, 2000, 'whole cores are thousandths, too';
is $p->{RETORT_LIMIT_TIMEOUT}, 90000, 'a ceiling is inherited';
ok !exists $p->{RETORT_STATIC_URL}, 'no prefix of links, no param';

seen('GET', '/nested/?if=1', '');
seen('POST', '/nested/a', "Content-Length: 0\r\n");
is $front->last_request->{params}{PATH_INFO}, '/a',
    '"if" and "limit_except" keep the location';

$req = seen('GET', '/v1/x', '');
ok !exists $req->{params}{$_}, "no $_ without a body"
    for qw(CONTENT_LENGTH CONTENT_TYPE);

my %id = map { seen('GET', '/v1/x', '')->{params}{RETORT_EXECUTION} => 1 }
    1 .. 20;
is scalar(keys %id), 20, 'no two executions have one name';

$front->stop;
$ng->finish;
done_testing;
