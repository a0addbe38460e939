#!/usr/bin/perl

# Bodies of requests: streamed, of any size and encoding, over connections
# that are used again.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP;
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace demo;
    client_max_body_size 20m;
    client_body_buffer_size 64k;
    upstream kept { server unix:%%DIR%%/front.sock; keepalive 4; }

    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass kept; }
        location /once/ { retort_pass unix:%%DIR%%/front.sock; }
        location /mirrored/ { mirror /gone; retort_pass kept; }
        location /gone { return 204; }
        location /file/ {
            client_body_in_file_only on;
            mirror /gone;
            retort_pass kept;
        }
    }
}
EOC

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    my $how = $req->{params}{QUERY_STRING};

    if ($how eq 'early' || $how eq 'leave') {
        $req->answer("Status: 400\nContent-Type: text/plain", 'no');
        $req->close;
        return;
    }

    if ($how eq 'first') {
        my ($type, $content) = $req->read_record;
        $req->note("first $content");
    }

    $req->stdin // return $req->close;
    my $sum = sha256_hex($req->{stdin});
    $req->{stdin} = length $req->{stdin};
    $req->answer('Content-Type: text/plain', $sum);
});

$ng->start;

my @flags;

for my $size (0, 1, 8191, 32767, 32768, 32769, 65536, 1_000_003, 16 << 20) {
    my $body = join '', map { chr(($_ * 7 + $size) & 255) } 0 .. 255;
    $body = substr $body x ($size / 256 + 1), 0, $size;

    for my $uri ('/v1/x', '/once/x', '/mirrored/x', '/file/x') {
        next if $size > 2_000_000 && $uri ne '/v1/x';

        my $res = $ng->post($uri, $body);
        is $res->{body}, sha256_hex($body), "$size bytes to $uri arrive";
    }

    push @flags, map { @{$_->{flags}} } $front->requests;
    $front->forget;

    my $s = $ng->connect;
    print $s "POST /v1/x HTTP/1.1\r\nHost: l\r\nConnection: close\r\n"
        . "Transfer-Encoding: chunked\r\n\r\n";
    my ($pos, $n) = (0, 1);
    while ($pos < $size) {
        my $chunk = substr $body, $pos, $n;
        printf $s "%x\r\n%s\r\n", length $chunk, $chunk;
        $pos += length $chunk;
        $n = $n * 3 % 65521;
    }
    print $s "0\r\n\r\n";
    is $ng->response($s, 'POST')->{body}, sha256_hex($body),
        "$size bytes in chunks arrive";
    ok !exists $front->last_request->{params}{CONTENT_LENGTH},
        'without a length that nobody knows';
}

is_deeply [@flags, map { @{$_->{flags}} } $front->requests], [],
    'all in records of 32 KiB at most';

# streamed: the front sees the start before the client has sent the end

$front->forget;
my $s = $ng->connect;
print $s "POST /v1/x?first HTTP/1.1\r\nHost: l\r\nConnection: close\r\n"
    . "Content-Length: 10\r\n\r\nhello";
ok $ng->wait_for(sub { $ng->slurp('front.sock.log') eq '' }, 1), 'half a body';
select undef, undef, undef, 0.05;
print $s 'world';
is $ng->response($s, 'POST')->{body}, sha256_hex('world'), 'and the rest';
is_deeply $front->last_request->{notes}, ['first hello'],
    'the half came before the rest was there';

# sizes

my $res = $ng->post('/v1/x', 'x' x ((20 << 20) + 1));
is $res->{status}, 413, 'a body above client_max_body_size is refused';
is decode_json($res->{body})->{error}{code}, 'too_large', 'in JSON';

$s = $ng->connect;
print $s "POST /v1/x HTTP/1.1\r\nHost: l\r\nConnection: close\r\n"
    . "Transfer-Encoding: chunked\r\n\r\n";
{
    local $SIG{PIPE} = 'IGNORE';
    my $chunk = sprintf "%x\r\n%s\r\n", 1 << 20, 'y' x (1 << 20);
    for (1 .. 21) { print $s $chunk or last }
}
is $ng->response($s, 'POST')->{status}, 413, 'so is one in chunks';
close $s;
like $ng->access(qr/ 413 .*exec/), qr/"cancelled"/, 'whose run is cancelled';

$s = $ng->connect;
print $s "POST /v1/x HTTP/1.1\r\nHost: l\r\nConnection: close\r\n"
    . "Transfer-Encoding: chunked\r\n\r\nzz\r\n";
$res = $ng->response($s, 'POST');
close $s;
is $res->{status}, 400, 'broken chunks are a bad request';
is decode_json($res->{body})->{error}{code}, 'bad_request', 'in JSON';

# a front that answers before it has read everything

for my $body ('{}', 'x' x (4 << 20)) {
    my @got = map { $ng->post('/once/x?early', $body) } 1 .. 5;
    is join(' ', map { "$_->{status} $_->{body}" } @got),
        join(' ', ('400 no') x 5),
        'an answer that comes early is heard, ' . length($body) . ' bytes';
}

# connections

for (['/v1/', 1, 'one connection serves many requests'],
     ['/once/', 5, 'unless nothing keeps it'])
{
    my ($uri, $n, $name) = @$_;
    my @seen;

    $front->forget;
    $ng->post("${uri}kept", 'a') for 1 .. 5;
    $ng->wait_for(sub {
        @seen = grep { $_->{params}{PATH_INFO} eq '/kept' } $front->requests;
        return @seen == 5;
    });

    my %conn = map { $_->{conn} => 1 } @seen;
    is scalar(keys %conn), $n, $name;
}

$front->stop;
$ng->finish;
done_testing;
