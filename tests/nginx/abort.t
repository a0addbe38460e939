#!/usr/bin/perl

# The client goes away: the front hears of it at once.

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace demo;
    server {
        listen 127.0.0.1:%%PORT%%;
        listen 127.0.0.1:%%PORT1%% http2;
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
    }
}
EOC

# tells the test that the script has come to its wait

sub Retort::FakeFront::Request::write_ready {
    open my $fh, '>', $ng->dir . '/ready';
}


my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    my ($form, $part) = split /,/, $req->{params}{QUERY_STRING};

    if ($part eq 'body') {
        $req->write_ready;
        return $req->stdin;
    }

    $req->stdin;

    if ($part eq 'header') {
        $req->send("Content-Type: text/x\r\nX-Retort-Form: $form\r\n\r\n");

    } elsif ($part eq 'middle') {
        $req->send("Content-Type: text/x\r\nX-Retort-Form: $form\r\n\r\n{\"a");

    } elsif ($part eq 'flood') {
        $req->send("Content-Type: text/x\r\nX-Retort-Form: $form\r\n\r\n\"");
        while (!@{$req->{notes}}) { $req->send('x' x 30000) }
        return;
    }

    $req->write_ready;
    my $after = $req->wait_closed(20);
    $req->note(defined $after ? 'heard' : 'waited in vain');
});

$ng->start;


sub heard {
    my ($query, $leave, $name) = @_;

    unlink $ng->dir . '/ready';
    $front->forget;

    $leave->($query);

    my $req = $front->last_request;
    ok $req && grep({ /heard|cut|write/ } @{$req->{notes}}), $name;
    like $ng->access(qr/$req->{params}{RETORT_EXECUTION}/), qr/"cancelled"/,
        'and the log says cancelled';
}


sub ready { $ng->wait_for(sub { -e $ng->dir . '/ready' }, 10) }


# HTTP/1.1

my $plain = sub {
    my ($query, $body, $length) = @_;

    my $s = $ng->connect;
    print $s "POST /v1/execute?$query HTTP/1.1\r\nHost: l\r\nContent-Length: "
        . ($length // 2) . "\r\n\r\n" . ($body // '{}');
    return $s;
};

for my $form (qw(json sse none)) {
    for my $part (qw(silent header middle)) {
        heard("$form,$part", sub {
            my $s = $plain->(shift);
            ready();
            close $s;
        }, "a client that closes ($form, $part) is heard of");
    }
}

heard('json,silent', sub {
    my $s = $plain->(shift);
    ready();
    setsockopt $s, Socket::SOL_SOCKET(), Socket::SO_LINGER(),
        pack 'ii', 1, 0;
    close $s;
}, 'so is one whose connection is reset');

heard('json,silent', sub {
    my $s = $plain->(shift);
    ready();
    print $s "GET /v1/next HTTP/1.1\r\nHost: l\r\n\r\n";
    select undef, undef, undef, 0.05;
    close $s;
}, 'so is one that had sent the next request');

heard('json,body', sub {
    my $s = $plain->(shift, '{"code":', 1000);
    ready();
    close $s;
}, 'so is one in the middle of its body');

heard('json,flood', sub {
    my $s = $plain->(shift);
    sysread $s, my $data, 1000;
    close $s;
}, 'so is one that stops reading');

# HTTP/2

SKIP: {
    my $curl = `curl --version 2>/dev/null` // '';
    skip 'curl with HTTP/2', 12 unless $curl =~ /HTTP2/;

    my $url = 'http://127.0.0.1:' . $ng->port(1) . '/v1/execute';

    for my $part (qw(silent header middle)) {
        heard("json,$part", sub {
            my $query = shift;
            my $pid = fork() // die;
            if ($pid == 0) {
                open STDOUT, '>', '/dev/null';
                open STDERR, '>', '/dev/null';
                exec 'curl', '-s', '--http2-prior-knowledge', '-d', '{}',
                    "$url?$query";
            }
            ready();
            kill 'KILL', $pid;
            waitpid $pid, 0;
        }, "an HTTP/2 client that dies ($part) is heard of");

        heard("json,$part", sub {
            my $s = h2_request(shift);
            ready();
            print $s h2_frame(3, 0, 1, pack 'N', 8);   # RST_STREAM, CANCEL
            $s->flush;
            $front->last_request;           # the connection stays open
            close $s;
        }, "an HTTP/2 client that resets its stream ($part) is heard of");
    }
}


sub h2_frame {
    my ($type, $flags, $stream, $payload) = @_;
    return substr(pack('N', length $payload), 1)
        . pack('CCN', $type, $flags, $stream) . $payload;
}


# one POST with an empty body, HPACK without compression

sub h2_request {
    my $query = shift;

    my $s = IO::Socket::INET->new('127.0.0.1:' . $ng->port(1)) or die;
    my $literal = sub {
        join '', map { pack('C', length $_) . $_ } @_;
    };
    my $block = join '', map { "\0" . $literal->(@$_) }
        [':method', 'POST'], [':scheme', 'http'],
        [':path', "/v1/execute?$query"], [':authority', 'l'];

    print $s "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" . h2_frame(4, 0, 0, '')
        . h2_frame(1, 5, 1, $block);
    $s->flush;

    return $s;
}


$front->stop;
$ng->finish;
done_testing;
