#!/usr/bin/perl

# The front goes away, or talks nonsense, before the header of its answer.

use strict;
use warnings;

use JSON::PP;
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC', alarm => qr/connect\(\) to unix/);
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace demo;
    error_page 502 503 504 /50x.html;
    upstream dead { server unix:%%DIR%%/nobody.sock; }
    upstream down { server unix:%%DIR%%/front.sock down; }
    upstream second {
        server unix:%%DIR%%/nobody.sock max_fails=0;
        server unix:%%DIR%%/front.sock max_fails=0;
    }

    server {
        listen 127.0.0.1:%%PORT%%;
        location /v1/ { retort_pass unix:%%DIR%%/front.sock; }
        location /small/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_buffer_size 1k;
        }
        location /short/ {
            retort_pass unix:%%DIR%%/front.sock;
            retort_read_timeout 200ms;
        }
        location /dead/ { retort_pass dead; }
        location /down/ { retort_pass down; }
        location /refused/ { retort_pass 127.0.0.1:%%PORT1%%; }
        location /second/ { retort_pass second; }
        location /only/ { retort_pass second; retort_next_upstream off; }
        location /health { retort_pass dead; retort_api health; }
    }
}
EOC

$ng->not_listening(1);

my %reply = (
    eof => '',
    half => "Content-Type: application/js",
    lines => "Content-Type: text/plain\r\n",
);

my %broken = (
    version => "\2\6\0\1\0\0\0\0",
    id => "\1\6\0\2\0\0\0\0",
    type => "\1\5\0\1\0\0\0\0",
    end => "\1\3\0\1\0\7\0\0",
    http => "HTTP/1.1 200 OK\r\n\r\n",
);

my %header = (
    status => "Status: 99\r\n\r\n",
    text => "Status: abc\r\n\r\n",
    name => "Con tent: x\r\n\r\n",
    nul => "X: a\0b\r\n\r\n",
    nocolon => "hello\r\n\r\n",
    length => "Content-Length: -1\r\n\r\n",
);

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    my $how = $req->{params}{QUERY_STRING};

    return $req->close if $how eq 'unread';

    $req->stdin;

    if ($how eq 'silent') {
        $req->wait_closed(10);

    } elsif ($how eq 'big') {
        $req->send("X: " . 'x' x 2000 . "\r\n\r\n");

    } elsif ($how eq 'over') {
        $req->raw($req->end_record(2));

    } elsif ($how eq 'early') {
        $req->end;

    } elsif (exists $broken{$how}) {
        $req->raw($broken{$how});

    } else {
        $req->send($reply{$how} // $header{$how} // "\r\nanswer");
        $req->end if $how eq 'ok';
    }

    $req->close;
});

$ng->start;


sub lost {
    my ($query, $accept, $type, $name) = @_;

    my $res = $ng->post("/v1/execute?$query", '{"code":"x"}',
                        Accept => $accept);
    is $res->{status}, 200, "$name: 200";
    is $res->{header}{'content-type'}, $type, "as $type";
    ok $res->{whole}, 'and whole';
    return $res->{body};
}


sub error {
    my ($res, $status, $code, $name) = @_;

    my $doc = eval { decode_json($res->{body}) };
    is_deeply [$res->{status}, $res->{header}{'content-type'},
               $doc->{error}{code}],
        [$status, 'application/json', $code], "$name: $status $code";
}


for (qw(eof half lines unread)) {
    my $doc = decode_json(lost($_, undef, 'application/json', $_));
    is $doc->{status}, 'lost', 'the status is lost';
    is $doc->{error}{name}, 'Lost', 'and the error says it';
    like $doc->{markdown}, qr/^error:\n\n```\n[^`]+\n```$/, 'and the text';
    like $ng->access(qr/$doc->{execution_id}/), qr/ 200 .* "lost" /,
        'under the id of the execution';
}

my $md = lost('eof', 'text/markdown', 'text/markdown; charset=utf-8', 'text');
like $md, qr/^error:\n\n```\n[^`]+\n```\n$/, 'as an error block';

my $sse = lost('eof', 'application/xml;q=1, text/event-stream;q=0.9, '
               . 'text/markdown;q=0.8', 'text/event-stream', 'by quality');
like $sse, qr/^event: status\ndata: \{"status":"lost",.*\}\n\n$/, 'one event';

my $nd = lost('eof', 'application/x-ndjson', 'application/x-ndjson', 'lines');
is decode_json($nd)->{status}, 'lost', 'one line';

lost('eof', $_, 'application/json', "Accept: $_")
    for '*/*', 'text/html', 'text/markdown;q=0', 'application/*',
        'text/markdown;q=0.1, application/json';

error($ng->post('/v1/sandboxes?eof', '{}'), 502, 'bad_gateway',
      'a POST that runs nothing is not lost');
error($ng->get('/v1/execute?eof'), 502, 'bad_gateway', 'nor is a GET');
unlike $ng->access(qr{GET /v1/execute}), qr/lost/, 'in the log neither';

error($ng->post("/v1/execute?$_", '{}'), 502, 'bad_gateway', "broken $_")
    for sort(keys %broken), sort(keys %header), 'early';
error($ng->post('/small/execute?big', '{}'), 502, 'bad_gateway',
      'a header larger than the buffer');

my $res = $ng->post('/v1/execute?over', '{}');
error($res, 503, 'unavailable', 'an overloaded front');
is $res->{header}{'retry-after'}, 1, 'may be asked again';

for (qw(/dead/execute /down/execute /refused/execute /health)) {
    $res = $ng->post($_, '{}');
    error($res, 503, 'unavailable', $_);
    is $res->{header}{'retry-after'}, 1, 'may be asked again';
}

is $ng->post('/second/execute?ok', '{}')->{body}, 'answer',
    'a front that cannot be reached is passed over' for 1 .. 3;

my %got = map { $ng->post('/only/execute?ok', '{}')->{status} => 1 } 1 .. 4;
is_deeply [sort keys %got], [200, 503], 'unless that is switched off';

$front->forget;
$ng->get('/second/execute?eof') for 1 .. 2;
my $again = sub {
    return scalar grep { $_->{params}{QUERY_STRING} eq 'eof' } $front->requests;
};
$ng->wait_for(sub { $again->() >= 2 });
is $again->(), 2, 'what was sent is never sent again';

my $doc = decode_json($ng->post('/short/execute?silent', '{}')->{body});
is $doc->{status}, 'lost', 'a front silent for too long loses the run';
error($ng->get('/short/x?silent'), 504, 'timeout', 'or the request');

# the client's connection goes on

my $s = $ng->connect;
for my $how (qw(eof ok)) {
    print $s "POST /v1/execute?$how HTTP/1.1\r\nHost: l\r\n"
        . "Content-Length: 2\r\n\r\n{}";
    my $res = $ng->response($s, 'POST');
    is $res->{status}, 200, "$how on one connection";
    is $res->{header}{connection}, 'keep-alive', 'which is kept';
}
close $s;

$front->stop;
error($ng->post('/v1/execute?ok', '{}'), 503, 'unavailable',
      'a front that has ended');

$ng->finish;
done_testing;
