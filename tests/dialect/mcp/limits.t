#!/usr/bin/perl

# A workspace with as many runs as it may have can still end them, in both eras:
# the message that does so, or the end of the connection, is no run.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use IO::Socket::INET;
use JSON::PP;
use Retort::Service;
use Test::More;

use constant { M => 'io.modelcontextprotocol', V => '2026-07-28' };

my $s = Retort::Service->new(stopped => 1, nginx => 'retort_zone runs 1m;');

$s->{location} = <<"CONF";
location = /mcp {
    retort_api mcp;
    retort_pass unix:$s->{dir}/run/front.sock;
    retort_auth_key_file $s->{dir}/keys;
    retort_limits zone=runs running=1;
}
CONF
$s->configure;
$s->start;

my $json = JSON::PP->new->utf8->canonical;


sub rpc {
    my ($method, $params, %o) = @_;
    my $r = $s->request('POST', '/mcp', $json->encode({ jsonrpc => '2.0',
        $method =~ /^notif/ ? () : (id => 1), method => $method,
        params => $params }), 'content-type' => 'application/json', %o);

    $r->{json} = eval { $json->decode($r->{content}) };
    return $r;
}

sub call {
    my ($code, $box, @in) = @_;
    my $r = rpc('tools/call', { name => 'python', arguments => {
        code => $code, defined $box ? (sandbox_id => $box) : () } }, @in);

    return $r->{json}{result}{structuredContent} // { status => $r->{status} };
}

# a call that has begun

sub start {
    my ($params, @head) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$s->{port}");
    my $body = $json->encode({ jsonrpc => '2.0', id => 'long', method =>
        'tools/call', params => { name => 'python', %$params } });

    print $socket join "\r\n", 'POST /mcp HTTP/1.1', 'Host: localhost',
        "Authorization: Bearer $s->{key}", 'Content-Type: application/json',
        'Accept: application/json, text/event-stream', 'Connection: close',
        @head, 'Content-Length: ' . length $body, '', $body;

    my $got = '';
    while ($got !~ /"on"/ && sysread $socket, my $more, 4096) { $got .= $more }
    like($got, qr/"message":"on"/, 'code runs');
    is(rpc('tools/call', { name => 'python', arguments => { code => '1' } })
       ->{status}, 429, 'and is all that may');

    return $socket;
}

sub code {
    my ($box) = @_;
    return { sandbox_id => $box, timeout => 60, code => "print('on', flush=True)\n"
             . "import time\ntime.sleep(55)\nopen('late', 'w').close()" };
}

my $left = 'import os; os.path.exists("late")';
my $box = call('1')->{sandbox_id};
my @in = ('mcp-session-id' => rpc('initialize', { protocolVersion =>
    '2025-11-25' })->{headers}{'mcp-session-id'});

# the older era: by a message

my $long = start({ arguments => code($box), _meta => { progressToken => 1 } },
                 "Mcp-Session-Id: $in[1]");
is(rpc('ping', {}, @in)->{status}, 200, 'a ping is answered');
is(rpc('tools/list', {}, @in)->{status}, 200, 'so is what is no call');
is(rpc('notifications/cancelled', { requestId => 'long' }, @in)->{status}, 202,
   'its end is taken');
unlike(do { local $/; <$long> // '' }, qr/"result"/, 'and it ends, unanswered');
is(call($left, $box)->{result}, 'False', 'before its code has');

# the newer one: by the end of its connection

$long = start({ arguments => code($box), _meta => { progressToken => 1,
    M . '/protocolVersion' => V, M . '/clientCapabilities' => {} } },
    'MCP-Protocol-Version: ' . V, 'Mcp-Method: tools/call', 'Mcp-Name: python');
close $long;
my $r;
ok($s->until_true(sub { ($r = call($left, $box))->{status} eq 'ok' }),
   'its place is free when its client has left');
is($r->{result}, 'False', 'and its code has ended');

$s->end;
done_testing;
