#!/usr/bin/perl

# The module behind another nginx, which has TLS and HTTP/2 to its clients and
# TLS to ours; several workers; and two helpers behind it, of which one dies.

use strict;
use warnings;

use Digest::SHA qw(hmac_sha256_hex sha256_hex);
use JSON::PP;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep);

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(undef, alarm => qr/connect\(\) to unix:/);
my $dir = $ng->dir;
my $secret = 's' x 32;

$ng->write('secret', "$secret\n");
chmod 0600, "$dir/secret";
system("openssl req -x509 -newkey ed25519 -nodes -days 2 -subj /CN=localhost"
       . " -addext subjectAltName=DNS:localhost -keyout $dir/tls.key"
       . " -out $dir/tls.pem 2> $dir/openssl.log") == 0 or die 'openssl';

$ng->conf(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    ssl_certificate tls.pem;
    ssl_certificate_key tls.key;
    ssl_session_cache shared:tls:1m;
    client_max_body_size 20m;

    upstream helpers {
        server unix:%%DIR%%/a.sock max_fails=1 fail_timeout=60s;
        server unix:%%DIR%%/b.sock max_fails=1 fail_timeout=60s;
        keepalive 8;
    }
    upstream ours {
        server 127.0.0.1:%%PORT1%%;
        keepalive 8;
    }

    server {
        listen 127.0.0.1:%%PORT%% ssl http2;
        location / {
            proxy_pass https://ours;
            proxy_ssl_verify on;
            proxy_ssl_name localhost;
            proxy_ssl_trusted_certificate tls.pem;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_buffering off;
            proxy_request_buffering off;
        }
        location /plain/ {
            proxy_pass https://ours;
            proxy_ssl_verify on;
            proxy_ssl_name localhost;
            proxy_ssl_trusted_certificate tls.pem;
            proxy_set_header Host $host;
        }
    }
    server {
        listen 127.0.0.1:%%PORT1%% ssl;
        location / {
            retort_pass helpers;
            retort_auth_signed secret;
        }
    }
}
EOC

(my $text = $ng->slurp('nginx.conf')) =~ s/worker_processes 1/worker_processes 4/;
$ng->write('nginx.conf', $text);

my %front = map { my $name = $_; ($name => Retort::FakeFront->new(
    "$dir/$name.sock", sub { answer($name, @_) })) } qw(a b);


sub answer {
    my ($name, $req) = @_;
    my $how = $req->{params}{QUERY_STRING};
    my $body = $req->stdin;

    if ($how eq 'stream') {
        $req->send("Content-Type: application/x-ndjson\r\nX-Retort-Form: "
                   . "ndjson\r\nX-Accel-Buffering: no\r\n\r\n"
                   . "{\"type\":\"first\"}\n");
        $ng->wait_for(sub { -e "$dir/seen" }) or return $req->close;
        $req->send("{\"type\":\"status\",\"status\":\"ok\"}\n");
        return $req->end;
    }

    if ($how eq 'hang') {
        open my $fh, '>', "$dir/hangs-$name";
        my $after = $req->wait_closed(30);
        return $req->note(defined $after ? 'heard' : 'in vain');
    }

    $req->answer('Content-Type: text/plain', join ' ', $name,
                 $req->{params}{RETORT_WORKSPACE}, sha256_hex($body));
}


$ng->start;


sub curl {
    my ($uri, @args) = @_;
    my $said = time . ':edge:';
    my $id = "$said:" . hmac_sha256_hex("retort-identity $said POST $uri",
                                        $secret);

    my $pid = open my $out, '-|';
    die "fork: $!" unless defined $pid;

    if ($pid == 0) {
        exec 'curl', '-sN', '--noproxy', '*', '--cacert', "$dir/tls.pem",
            '--max-time', 30, '-H', "X-Retort-Identity: $id", @args,
            'https://localhost:' . $ng->port . $uri or POSIX::_exit(127);
    }

    return ($out, $pid);
}

sub whole { my ($out) = curl(@_); local $/; return scalar <$out> // '' }


for my $size (1, 32768, 1_000_000) {
    my $file = $ng->write('body', 'd' x $size);
    my $got = whole('/v1/execute?q=%41', '--data-binary', "\@$file");
    is $got =~ s/^\w //r, 'edge ' . sha256_hex('d' x $size),
        "$size bytes arrive, and whose they are";
}

# live

for (['/v1/execute', 'streams are let through'],
     ['/plain/execute', 'another nginx is as it comes'])
{
    my ($path, $how) = @$_;
    my ($live) = curl("$path?stream", '-d', '{}');
    my $line = <$live>;

    is $line, qq({"type":"first"}\n),
        "$how: the first line comes before the last is made";
    $ng->write('seen', '');
    is join('', <$live>), qq({"type":"status","status":"ok"}\n), 'then the rest';
    unlink "$dir/seen";
}

my ($out, $pid) = curl('/v1/execute?hang', '-d', '{}');
ok $ng->wait_for(sub { glob "$dir/hangs-*" }), 'a run that lasts';
kill 'KILL', $pid;
close $out;
ok $ng->wait_for(sub {
    grep { grep { $_ eq 'heard' } @{ $_->{notes} } }
        map { $_->requests } values %front
}), 'is told that its client has left, two servers away';
unlink glob "$dir/hangs-*";

# one of two dies

my %seen;
$seen{substr whole('/v1/execute', '-d', '{}'), 0, 1}++ for 1 .. 40;
is_deeply [sort keys %seen], ['a', 'b'], 'both helpers have work';

# whoever has it dies with it

$_->forget for values %front;
($out) = curl('/v1/execute?hang', '-d', '{}');
$ng->wait_for(sub { glob "$dir/hangs-*" });
my ($dead) = map { /-(\w)$/ } glob "$dir/hangs-*";
my ($lives) = grep { $_ ne $dead } qw(a b);
$front{$dead}->stop;
my $got = do { local $/; <$out> };
is eval { decode_json($got)->{status} }, 'lost', 'a run on the one that dies is lost';
is scalar($front{$lives}->requests), 0, 'and not done again by the other';

my @all = map { whole('/v1/execute', '-d', '{}') } 1 .. 40;
is scalar(grep { /^$lives edge / } @all), 40,
    'nobody else notices: the other does all';

$front{$lives}->stop;
like whole('/v1/execute', '-d', '{}'), qr/"code":"unavailable"/,
    'when both are gone it is said';

$ng->finish;
done_testing;
