#!/usr/bin/perl

# Where runs of MCP have limits only calls are runs: what ends one does not wait
# behind it, and nothing else passes for no call.

use strict;
use warnings;

use IO::Select;
use JSON::PP;
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    retort_zone runs 64k;
    retort_workspace $arg_who;
    client_body_buffer_size 2k;
    server {
        listen 127.0.0.1:%%PORT%%;
        listen 127.0.0.1:%%PORT1%% http2;
        location = /mcp {
            retort_api mcp;
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=runs running=1 waiting=1 wait=60s;
        }
        location = /one {
            retort_api mcp;
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=runs running=1;
        }
        location = /prisme {
            retort_api prisme;
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=runs running=1;
        }
        location = /azure {
            retort_api azure_mcp;
            retort_pass unix:%%DIR%%/front.sock;
            retort_limits zone=runs running=1;
        }
        location = /status { retort_status runs; }
    }
}
EOC

# a message that says so lasts until there is a file

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    my $body = $req->stdin;

    $ng->wait_for(sub { -e $ng->dir . '/end' }, 200) if $body =~ /"held"/;
    $req->answer('Content-Type: application/json', $body);
});

$ng->start;

my $json = JSON::PP->new->canonical;


sub message {
    my ($method, $id) = @_;
    return $json->encode({ jsonrpc => '2.0', id => $id // 1,
                           method => $method });
}

sub post { my ($where, $body, %h) = @_; return $ng->post($where, $body, %h) }

sub begin {
    my ($body, $where) = @_;
    my $s = $ng->connect;

    print $s 'POST ' . ($where // '/mcp?who=a') . " HTTP/1.1\r\nHost: l\r\n"
        . "Connection: close\r\nContent-Length: " . length($body)
        . "\r\n\r\n$body";
    return $s;
}

sub stands {
    my ($running, $waiting, $name) = @_;
    my $o;

    ok $ng->wait_for(sub {
        $o = decode_json($ng->get('/status')->{body});
        $o->{running} == $running && $o->{waiting} == $waiting;
    }, 15), $name or diag explain $o;
}


my $call = message('tools/call');
my $held = begin(message('tools/call', 'held'));
stands(1, 0, 'a call is a run');

# what is none

for my $where ('/mcp', '/one', '/prisme', '/azure') {
    for my $method (qw(ping initialize tools/list notifications/cancelled
                       resources/read tools/Call tools/calls x))
    {
        my $body = message($method);
        my $r = post("$where?who=a", $body);
        is "$r->{status} $r->{body}", "200 $body", "$where: $method is no run";
    }
}

my $ping = message('ping');
is post('/one?who=a', $ping, 'Mcp-Method' => 'ping')->{status}, 200,
    'nor if a header says so';

for my $cut (1, 12, length($ping) - 1) {
    my $s = $ng->connect;
    print $s "POST /one?who=a HTTP/1.1\r\nHost: l\r\nConnection: close\r\n"
        . 'Content-Length: ' . length($ping) . "\r\n\r\n" . substr $ping, 0, $cut;
    ok !IO::Select->new($s)->can_read(0.2), 'half a message is waited for';
    print $s substr $ping, $cut;
    is $ng->response($s, 'POST')->{body}, $ping, "cut at $cut it is whole";
}

is `curl -s --noproxy '*' --http2-prior-knowledge -d '$ping' 'http://127.0.0.1:${\$ng->port(1)}/one?who=a'`,
    $ping, 'nor is it one over HTTP/2';

# what is one, or might be

my $long = message('ping', 'x' x 3000);

for (['a call', $call], ['with an escape', $call =~ s{/}{\\/}r],
     ['with another', $call =~ s{tools}{t\\u006fols}r],
     ['a ping and a call', $ping =~ s/\}$/,"method":"tools\/call"}/r],
     ['a call and a ping', $call =~ s/\}$/,"method":"ping"}/r],
     ['a key with an escape', '{"m\u0065thod":"tools/call"}'],
     ['an odd name', message('a_b')], ['no method', '{"jsonrpc":"2.0"}'],
     ['a method that is none', '{"method":5}'], ['an empty one', message('')],
     ['a method further in', '{"a":{"method":"ping"}}'],
     ['a list', "[$ping]"], ['half of it', substr $ping, 0, -1],
     ['something behind it', "$ping x"], ['a long one', $long],
     ['a ping, by its header a call', $ping, 'Mcp-Method' => 'tools/call'],
     ['a call, by two headers none', $call, 'Mcp-Method' => "ping\r\nMcp-Method: ping"])
{
    my ($name, $body, %h) = @$_;
    is post('/one?who=a', $body, %h)->{status}, 429, "$name is a run";
}

my $s = $ng->connect;
print $s "POST /one?who=a HTTP/1.1\r\nHost: l\r\nConnection: close\r\n"
    . "Transfer-Encoding: chunked\r\n\r\n" . sprintf("%x\r\n", length $ping)
    . "$ping\r\n0\r\n\r\n";
is $ng->response($s, 'POST')->{status}, 429, 'so is one of unknown length';

my $r = post('/prisme?who=a', message('tools/call', 'p7'));
is $r->{status}, 200, "Prisme's has a result";
my $said = decode_json($r->{body});
is_deeply [$said->{id}, $said->{result}{structuredContent}{error}{code}],
    ['p7', 'CodeSandboxUnreachable'], 'under its own id';

# one that waits was read before, and is whole

my $next = begin(message('tools/call', 'next'));
stands(1, 1, 'one more call waits');
my $gone = begin($call, '/mcp?who=b');
is $ng->response($gone, 'POST')->{body}, $call, 'others do not';
is post('/mcp?who=a', $call)->{status}, 429, 'a third does not wait';
$ng->write('end', '');
is $ng->response($held, 'POST')->{body}, message('tools/call', 'held'),
    'the first ends';
is $ng->response($next, 'POST')->{body}, message('tools/call', 'next'),
    'the next has its turn';
stands(0, 0, 'nothing is left');

# a client that leaves gives its place up

unlink $ng->dir . '/end';
$held = begin(message('tools/call', 'held'));
stands(1, 0, 'a call again');
$next = begin($call);
stands(1, 1, 'and one that waits');
close $next;
stands(1, 0, 'until its client leaves');
close $held;
stands(0, 0, 'so it is with one that runs');

$front->stop;
$ng->finish;
done_testing;
