#!/usr/bin/perl

# A kept connection that the front has closed meanwhile costs no request, and
# no request is ever given to a front twice.

use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP;
use Scalar::Util 'refaddr';
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new;

sub conf {
    my $server = shift;
    $ng->conf(<<"EOC");
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace demo;
    client_max_body_size 8m;
    upstream unix { server unix:%%DIR%%/front.sock; keepalive 8; }
    upstream tcp { server $server; keepalive 8; }
    server {
        listen 127.0.0.1:%%PORT%%;
        location /unix/ { retort_pass unix; }
        location /tcp/ { retort_pass tcp; }
        location /off/ { retort_pass unix; retort_next_upstream off; }
    }
}
EOC
}

my $tcp = '127.0.0.1:' . Retort::Nginx::free_port();
conf($tcp);


# what the query says becomes of the connection: the front closes it after the
# answer when a file is there, or in the middle of the next request

sub script {
    my $req = shift;
    my ($how) = split /,/, $req->{params}{QUERY_STRING};

    if ($how eq 'unread') {
        $req->note('seen');
        return $req->close;
    }

    my $body = $req->stdin;
    $req->{stdin} = '';
    return unless defined $body;
    return $req->close if $how eq 'read';

    $req->answer('Content-Type: text/plain', sha256_hex($body));

    if ($how eq 'close') {
        $ng->wait_for(sub { -e $ng->dir . '/close' }, 20);
        $req->close;
        $ng->write("closed-$$-" . refaddr($req), '');
    }
}


sub closed { my @all = glob $ng->dir . '/closed-*'; return @all }

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', \&script);
my $other = Retort::FakeFront->new($tcp, \&script);

$ng->start;
my ($worker) = $ng->workers;


sub ask {
    my ($s, $uri, $body, $chunked, $length) = @_;

    $length //= length $body;
    print $s "POST $uri HTTP/1.1\r\nHost: l\r\n" . ($chunked
        ? "Transfer-Encoding: chunked\r\n\r\n"
          . sprintf("%x\r\n", length $body) . "$body\r\n0\r\n\r\n"
        : "Content-Length: $length\r\n\r\n$body");
}


# The worker stands still while first the next request and then the end of the
# kept connection arrive: it looks at the request first, and takes that one.

sub worst {
    my ($where, $body, $chunked) = @_;

    unlink $ng->dir . '/close', closed();
    my $s = $ng->connect;
    ask($s, "/$where/execute?close", 'a');
    $ng->response($s, 'POST');

    $ng->halt($worker);
    ask($s, "/$where/execute?ok", substr($body, 0, 60000), $chunked,
        length $body);
    $ng->write('close', '');
    $ng->wait_for(sub { closed() }, 20);
    kill 'CONT', $worker;

    print $s substr $body, 60000 if length $body > 60000;
    return $ng->response($s, 'POST');
}


my %size = ('an empty body' => 0, 'a body' => 5000,
            'a body in many pieces' => 3_000_000);

for my $where (qw(unix tcp off)) {
    my $seen = $where eq 'tcp' ? $other : $front;

    for my $name (sort keys %size) {
        my $body = 'b' x $size{$name};
        my @bad;
        $seen->forget;

        for my $n (1 .. 4) {
            my $res = worst($where, $body);
            push @bad, "$res->{status} $res->{body}"
                if $res->{status} != 200 || $res->{body} ne sha256_hex($body);
        }

        is join("\n", @bad), '', "$where: $name is not lost to a closed one";
        my @ok = grep { $_->{params}{QUERY_STRING} eq 'ok' }
            $seen->requests(8);
        is scalar(@ok), 4, 'and arrives once';
    }
}

is worst('unix', 'c' x 4000, 1)->{body}, sha256_hex('c' x 4000),
    'nor is one without a length';

# several of them

unlink $ng->dir . '/close', closed();
my @s = map { $ng->connect } 1 .. 6;
ask($_, '/unix/execute?close', 'a') for @s;
$ng->response($_, 'POST') for @s;
$ng->halt($worker);
ask($_, '/unix/execute?ok', 'again') for @s;
$ng->write('close', '');
$ng->wait_for(sub { 6 == closed() }, 20);
kill 'CONT', $worker;
is_deeply [map { $ng->response($_, 'POST')->{body} } @s],
    [(sha256_hex('again')) x 6], 'nor are six at once';
close $_ for @s;

# what a front has got a byte of

for my $how (qw(unread read)) {
    $ng->post('/unix/x?ok', '') for 1 .. 2;
    $front->forget;
    my $res = $ng->post("/unix/execute?$how", 'd' x 1000);
    is $res->{status}, 200, "a kept connection closed later ($how)";
    is decode_json($res->{body})->{status}, 'lost', 'loses the run';
    is scalar(grep { $_->{params}{QUERY_STRING} eq $how }
              $front->requests(1)), 1, 'which is not given to a front again';
}

$other->stop;
$front->stop;
$ng->finish;
done_testing;
