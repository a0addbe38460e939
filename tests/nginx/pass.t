#!/usr/bin/perl

# A request goes through: params, body, answer, variables.

use strict;
use warnings;

use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    upstream front { server unix:%%DIR%%/front.sock; keepalive 4; }
    client_max_body_size 64m;
    retort_workspace demo;
    retort_static_url http://localhost/static/;

    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass front; retort_node n-1; }
        location = /exact { retort_pass front; }
        location ~ ^/re/ { retort_pass front; }
        location / { retort_pass unix:%%DIR%%/front.sock; }
        location /health { retort_pass front; retort_api health; }
    }
}
EOC

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    my $body = $req->stdin;

    $req->answer("Status: 201 Created\nContent-Type: text/x-test\n"
        . "X-Retort-Execution: exec_other\nX-Retort-Sandbox: sbx_1\n"
        . "X-Retort-Status: ok\nX-Retort-Wall-Us: 1234567\n"
        . "X-Retort-Cpu-Us: 999\nX-Retort-Peak-Memory: 4096\n"
        . "X-Retort-Unknown: x\nX-Accel-Redirect: /secret\nX-Mine: yes",
        "got " . length($body)) if $req->{params}{PATH_INFO} =~ /vars/;

    $req->answer('Content-Type: text/plain', 'got ' . length $body)
        if $req->{params}{PATH_INFO} !~ /vars/;
});

$ng->start;

my $res = $ng->post('/v1/execute?a=b%20c', 'hello',
                    'Content-Type' => 'application/json',
                    'X-Some-Thing' => 'v');

is $res->{status}, 200, 'the front\'s answer arrives';
is $res->{body}, 'got 5', 'with its body';
is $res->{header}{'content-type'}, 'text/plain', 'and its type';
ok $res->{whole}, 'and a proper end';

my $p = $front->last_request->{params};

is $p->{RETORT_API}, 'native', 'the dialect is native by default';
is $p->{RETORT_WORKSPACE}, 'demo', 'the workspace is told';
is $p->{RETORT_PROFILE}, 'default', 'the profile is "default" by default';
like $p->{RETORT_EXECUTION}, qr/^exec_n-1_[0-9a-f]{32}$/,
    'the worker names the execution';
is $p->{RETORT_STATIC_URL}, 'http://localhost/static',
    'the prefix of links has no slash at its end';
is_deeply [@$p{qw(SCRIPT_NAME PATH_INFO)}], ['/v1', '/execute'],
    'the path is split at the location';
is_deeply [@$p{qw(REQUEST_METHOD QUERY_STRING REQUEST_URI SERVER_PROTOCOL)}],
    ['POST', 'a=b%20c', '/v1/execute?a=b%20c', 'HTTP/1.1'],
    'the request line is told as in CGI';
is_deeply [@$p{qw(CONTENT_TYPE CONTENT_LENGTH REMOTE_ADDR)}],
    ['application/json', '5', '127.0.0.1'], 'so are body and client';
is $p->{HTTP_X_SOME_THING}, 'v', 'a header is passed on';
is $p->{HTTP_HOST}, 'localhost', 'so is the host';
is_deeply [grep { /^RETORT_LIMIT/ } keys %$p], [],
    'no ceiling is told where none is set';

for (['/exact', '/exact', ''], ['/re/x/y', '', '/re/x/y'],
     ['/a%2Fb/c', '', '/a/b/c'], ['/v1/', '/v1', '/'])
{
    my ($uri, $script, $path) = @$_;
    $front->forget;
    $ng->get($uri);
    my $p = $front->last_request->{params};
    is_deeply [@$p{qw(SCRIPT_NAME PATH_INFO)}], [$script, $path],
        "$uri is $script and $path";
}

$front->forget;
is $ng->get('/health')->{status}, 200, 'a probe needs no workspace';
$p = $front->last_request->{params};
is $p->{RETORT_API}, 'health', 'and is told as such';
ok !exists $p->{RETORT_WORKSPACE}, 'without a workspace';

$res = $ng->post('/v1/vars', '');
is $res->{status}, 201, 'the status is the front\'s';
is $res->{header}{'x-mine'}, 'yes', 'other lines of the front are passed';
unlike $res->{head}, qr/x-retort|x-accel/i, 'lines for the worker are not';
like $ng->access(qr{/v1/vars}),
    qr/"demo" "exec_other" "sbx_1" "ok" "1\.234" "0\.000" "4096"/,
    'they become variables';

like $ng->access(qr{/health}), qr/200 "-" "exec_local_[0-9a-f]{32}" "-" "-"/,
    'a variable that is not known is not found';

$front->stop;
$ng->finish;
done_testing;
