#!/usr/bin/perl

# A lost answer reaches slow clients, compressed ones, HTTP/1.0, and comes
# from silent fronts and fronts over TCP as well.

use strict;
use warnings;

use IO::Uncompress::Gunzip qw(gunzip);
use JSON::PP;
use Socket;
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $tcp = Retort::Nginx::free_port();
my $ng = Retort::Nginx->new(<<"EOC");
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace demo;
    gzip on;
    gzip_types application/json;
    gzip_min_length 0;
    server {
        listen 127.0.0.1:%%PORT%% sndbuf=64k rcvbuf=64k;
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
        location /tcp/ { retort_pass 127.0.0.1:$tcp; }
        location /short/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_read_timeout 150ms;
        }
    }
}
EOC

my $script = sub {
    my $req = shift;
    my ($how, $n) = split /,/, $req->{params}{QUERY_STRING};

    $req->stdin;
    $req->send("Content-Type: application/json\r\nX-Retort-Form: json\r\n\r\n"
               . '{"stdout":"' . 'x' x $n);
    $req->wait_closed(20) if $how eq 'silent';

    if ($how eq 'slow') {
        $req->send("\",\"status\":\"ok\"}");
        $req->end;
        return $req->wait_closed(20);
    }

    setsockopt $req->{sock}, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0
        if $how eq 'reset';
    $req->close;
};

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', $script);
my $far = Retort::FakeFront->new("127.0.0.1:$tcp", $script);

$ng->start;


sub lost {
    my ($res, $n, $name) = @_;

    ok $res->{whole}, "$name is whole";
    my $doc = eval { decode_json($res->{body}) } // {};
    is $doc->{status}, 'lost', 'and lost';
    ok length($doc->{stdout} // '') <= $n, 'after what came before';
    return $doc;
}


lost($ng->post('/short/execute?silent,100', '{}'), 100, 'a silent front');
lost($ng->post("/tcp/execute?$_,5000", '{}'), 5000, "TCP, $_")
    for qw(eof reset);

for my $uri ('/v1/execute?eof,1500000', '/short/execute?silent,1500000') {
    my $s = $ng->connect;
    print $s "POST $uri HTTP/1.1\r\nHost: l\r\nConnection: close\r\n"
        . "Content-Length: 2\r\n\r\n{}";
    select undef, undef, undef, 0.4;
    my $doc = lost($ng->response($s), 1_500_000, "$uri, read slowly,");
    is length($doc->{stdout}), 1_500_000, 'all of it';
}

{
    # the client, not the front, is what takes longer than the time-out
    my $s = $ng->connect;
    print $s "POST /short/x?slow,1500000 HTTP/1.1\r\nHost: l\r\n"
        . "Connection: close\r\nContent-Length: 2\r\n\r\n{}";
    select undef, undef, undef, 0.5;
    my $res = $ng->response($s);
    ok $res->{whole}, 'a slow client gets everything';
    is decode_json($res->{body})->{status}, 'ok', 'and is not lost for it';
}

my $res = $ng->post('/v1/execute?eof,2000', '{}', 'Accept-Encoding' => 'gzip');
is $res->{header}{'content-encoding'}, 'gzip', 'a compressed answer';
gunzip \$res->{body} => \my $text;
$res->{body} = $text;
lost($res, 2000, 'it');

my $s = $ng->connect;
print $s "POST /v1/execute?eof,20 HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}";
lost($ng->response($s), 20, 'HTTP/1.0');
close $s;

$_->stop for $front, $far;
$ng->finish;
done_testing;
