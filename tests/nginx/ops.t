#!/usr/bin/perl

# /metrics and /status: nginx tells the front what it counts itself, to these
# two apis alone, and who may ask is bounded by allow and deny.

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
    retort_zone main 64k running=7 waiting=9;
    retort_zone slow.2 64k;
    retort_workspace $http_x_who;
    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ {
            retort_pass front;
            retort_limits zone=main running=1;
        }
        location /rate/ {
            retort_pass front;
            retort_limits zone=slow.2 rate=1r/m;
        }
        location = /metrics { retort_pass front; retort_api metrics; }
        location = /status { retort_pass front; retort_api status; }
        location = /health { retort_pass front; retort_api health; }
        location = /closed {
            deny all;
            retort_pass front;
            retort_api metrics;
        }
        location = /away {
            retort_pass unix:%%DIR%%/nobody.sock;
            retort_api metrics;
        }
    }
}
EOC

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    $req->stdin;

    $ng->wait_for(sub { -e $ng->dir . '/end' }, 20)
        if $req->{params}{PATH_INFO} eq '/execute';
    my $cut = $req->{params}{QUERY_STRING} // '';
    $req->raw($req->out("Content-Type: application/json\r\n"
                        . "X-Retort-Form: json\r\n\r\n{")) if $cut eq 'late';
    return $req->close if $cut;
    $req->answer("Content-Type: text/plain; version=0.0.4", 'ok');
});

$ng->start;


sub params {
    my ($uri) = @_;

    $front->forget;
    is $ng->get($uri)->{status}, 200, "$uri needs no workspace";
    return $front->last_request->{params};
}


my $p = params('/metrics');
is $p->{RETORT_API}, 'metrics', 'the api is told';
ok !exists $p->{RETORT_WORKSPACE}, 'and no workspace';
is $p->{RETORT_ZONE_0}, 'main 0 0 7 9 0 0 0 0 0', 'a zone is told with its bounds';
is $p->{RETORT_ZONE_1}, 'slow.2 0 0 0 4294967295 0 0 0 0 0',
    'as is each other, here without bounds';
ok !exists $p->{RETORT_ZONE_2}, 'and there are no more';

# counts

my @who = ('X-Who' => 'demo');
my $s = $ng->connect;
print $s "POST /v1/execute HTTP/1.1\r\nHost: h\r\nX-Who: demo\r\n"
    . "Content-Length: 2\r\nConnection: close\r\n\r\n{}";
ok $ng->wait_for(sub {
    $front->forget;
    $ng->get('/metrics');
    ($front->last_request->{params}{RETORT_ZONE_0} // '') =~ /^main 1 0 7 /;
}), 'a run shows as running';

is $ng->post('/v1/execute', '{}', @who)->{status}, 429, 'another is refused';
like params('/metrics')->{RETORT_ZONE_0}, qr/^main 1 0 7 \d+ 1 0 1 0 0$/,
    'which is counted as limited';
$ng->write('end', '');
is $ng->response($s, 'POST')->{status}, 200, 'the run ends';
ok $ng->wait_for(sub {
    $front->forget;
    $ng->get('/status');
    ($front->last_request->{params}{RETORT_ZONE_0} // '') =~ /^main 0 0 7 /;
}), 'and shows no more';

is $ng->get('/rate/x', @who)->{status}, 200, 'a first request is in time';
is $ng->get('/rate/x', @who)->{status}, 429, 'a second one comes too soon';
like params('/status')->{RETORT_ZONE_1}, qr/^slow\.2 0 0 0 \d+ \d+ 0 1 0 0$/,
    'which is counted in its own zone';

# runs whose front dies, before and after the first byte

for my $cut (qw(early late)) {
    my $body = $ng->post("/v1/execute?$cut", '{}', @who)->{body};
    like $body, qr/"status":"lost"/, "a run is lost ($cut)";
}

like params('/metrics')->{RETORT_ZONE_0}, qr/^main 0 0 7 9 3 0 1 0 2$/,
    'runs that were lost are counted';

# nobody else is told, and nobody else can tell

$p = params('/health');
is_deeply [grep { /^RETORT_ZONE/ } keys %$p], [], 'probes are told no counts';
$front->forget;
$ng->get('/v1/x', @who, 'RETORT-ZONE-0' => 'evil 1 1 1 1 1 1 1 1');
is_deeply [grep { /^RETORT_ZONE/ } keys %{$front->last_request->{params}}], [],
    'nor are runs';
$front->forget;
$ng->get('/metrics', 'Retort-Zone-0' => 'evil 1 1 1 1 1 1 1 1');
unlike $front->last_request->{params}{RETORT_ZONE_0}, qr/evil/,
    'a client cannot set a count';

is $ng->get('/closed')->{status}, 403, 'deny keeps them from others';
my $res = $ng->get('/away');
is $res->{status}, 503, 'without a front the module itself answers 503';
ok $res->{header}{'retry-after'}, 'and says when to come again';

$front->stop;
$ng->{alarm} = qr/nobody\.sock failed/;
$ng->finish;
done_testing;
