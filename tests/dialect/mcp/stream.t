#!/usr/bin/perl

# MCP's answers as streams: progress while the code runs, cuts that lose
# nothing, ends that end the code; with the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

use constant BOTH => 'application/json, text/event-stream';

my $f = Retort::Front->start(ready => 1);
my $json = JSON::PP->new->utf8->canonical;
my $n = 0;
my @mcp = (RETORT_API => 'mcp', SCRIPT_NAME => '/mcp',
           CONTENT_TYPE => 'application/json');


sub id { return sprintf 'exec_n1_%032x', $n }

sub status { $f->get('GET', '/executions/' . id(), '')->{json}{status} // '' }

sub session {
    my $id = $f->get('POST', '', { jsonrpc => '2.0', id => 1, method =>
        'initialize', params => { protocolVersion => $_[0] } }, @mcp)
        ->{header}{'mcp-session-id'};
    return (HTTP_MCP_SESSION_ID => $id, HTTP_MCP_PROTOCOL_VERSION => $_[0]);
}

sub call {
    my ($code, $token, @params) = @_;
    my $c = $f->client;
    my %meta = defined $token ? (progressToken => $token) : ();
    my %p = (HTTP_ACCEPT => BOTH, RETORT_EXECUTION => id(++$n), @params);
    %meta = (%meta, 'io.modelcontextprotocol/protocolVersion' => '2026-07-28',
             'io.modelcontextprotocol/clientCapabilities' => {})
        if exists $p{HTTP_MCP_NAME};

    $c->send_request($f->params('POST', '', @mcp, %p), $json->encode({
        jsonrpc => '2.0', id => "c$n", method => 'tools/call', params => {
            name => 'python', arguments => { code => $code },
            _meta => \%meta } }));
    return $c;
}

sub resume {
    my ($last, @params) = @_;
    my $c = $f->client;
    $c->send_request($f->params('GET', '', @mcp, HTTP_LAST_EVENT_ID => $last,
                                @params), '');
    return $c->read_answer;
}

# [id, message] of each event

sub events {
    my @e;
    for (split /\n\n/, shift) {
        my ($id) = /^id: (.*)$/m;
        my ($data) = /^data: (.*)$/m;
        push @e, [$id, $data ? $json->decode($data) : undef]
            if defined $data;
    }
    return @e;
}

sub messages { return map { $_->[1]{params}{message} // '' }
               grep { $_->[1] && $_->[1]{method} } @_ }


# progress

my @in = session('2025-11-25');
my $c = call('out("one\ntw"); nap(0.3); out("o\n"); nap(600)', 5, @in);
my $got = '';
while ($got !~ /"two"/ && (my $rec = $c->read_record)) { $got .= $rec->[2] }
like($got, qr/"message":"one"/, 'a line is told while the code runs');
unlike($got, qr/"message":"tw"/, 'no half of one is');
$f->get('POST', '', { jsonrpc => '2.0', method => 'notifications/cancelled',
    params => { requestId => "c$n" } }, @mcp, @in);
my $rest = $c->read_answer;
ok($rest->{ended}, 'a message cancels the run, and its stream ends');
unlike($rest->{body} . $rest->{out}, qr/"id":"c/, 'without an answer');
is(status(), 'cancelled', 'the code is at its end');

my $r = call('out("a\r50%\rb\n\nc"); err("e\n"); out("d\n")', 'tok',
             @in)->read_answer;
my @e = events($r->{body});
is($r->{header}{'content-type'}, 'text/event-stream', 'events have their type');
is($r->{header}{'x-accel-buffering'}, 'no', 'and are not to be held back');
ok(!defined $e[0][1] && $e[0][0], 'the first says from where to come back');
like($r->{body}, qr/\Aid: \S+\nretry: 1000\ndata: \n\n/, 'and when');
is_deeply([messages(@e)], [qw(a 50% b cd)],
          'each line is one message, progress bars too');
is_deeply([grep { $_ ne 'tok' } map { $_->[1]{params}{progressToken} }
           grep { $_->[1] && $_->[1]{method} } @e], [], 'with the token');
my @told = map { $_->[1]{params}{progress} } grep { $_->[1] } @e[0 .. $#e - 1];
ok(!(grep { $told[$_] <= $told[$_ - 1] } 1 .. $#told), 'it only grows');
is($e[-1][1]{id}, "c$n", 'the answer is last');
is($e[-1][1]{result}{structuredContent}{stdout}, "a\r50%\rb\n\ncd\n", 'whole');

# the same from any event on

for my $i (0 .. $#e) {
    $r = resume($e[$i][0], @in);
    is_deeply([map { $_->[0] } events($r->{body})],
              [map { $_->[0] } @e[$i + 1 .. $#e]],
              "behind event $i the others follow");
}

is_deeply((events(resume($e[-2][0], @in)->{body}))[-1], $e[-1],
          'and the answer is the same');

# a client that leaves comes back

$c = call('out("one\n"); nap(2); out("two\n")', 't', @in);
$got = '';
while ($got !~ /"one"/ && (my $rec = $c->read_record)) { $got .= $rec->[2] }
my ($last) = (events($got))[-1][0];
$c->close;
$r = resume($last, @in);
@e = events($r->{body});
is_deeply([messages(@e)], ['two'], 'a cut does not end a run in a session');
is($e[-1][1]{result}{structuredContent}{status}, 'ok', 'it ends as it would');

# who may not

is(resume($last, session('2025-11-25'), RETORT_WORKSPACE => 'other')->{status},
   404, 'another workspace has no such session');
is(resume($last, HTTP_MCP_SESSION_ID => 'mcp_' . '0' x 32)->{status}, 404,
   'a dead session is 404');

for ('', 'x', 'exec_n1_.x', '.5', '5') {
    $r = resume($_, @in);
    is($r->{status}, 405, "\"$_\" is no place to go on from");
}

is($r->{header}{allow}, 'POST, DELETE', 'a GET alone is 405 and says so');
is(resume('exec_n1_' . '9' x 32 . '.1', @in)->{status}, 404,
   'a run that nobody knows is 404');

# who gets none

$r = call('out("x\n")', 1, session('2025-06-18'))->read_answer;
@e = events($r->{body});
ok(defined $e[0][1], 'older clients get no event without a message');
ok(defined $e[0][0], 'but ids');

for (['no token', [undef, @in]],
     ['no will', [1, @in, HTTP_ACCEPT => 'application/json']],
     ['a token of another kind', [{}, @in]])
{
    $r = call('1', @{ $_->[1] })->read_answer;
    is($r->{header}{'content-type'}, 'application/json', "$_->[0]: JSON");
}

# without a session, and in the new era: no ids, and a cut ends the run

my @new = (HTTP_MCP_PROTOCOL_VERSION => '2026-07-28',
           HTTP_MCP_METHOD => 'tools/call', HTTP_MCP_NAME => 'python');

for (['without a session', []], ['2026-07-28', \@new]) {
    $r = call('out("x\n")', 1, @{ $_->[1] })->read_answer;
    @e = events($r->{body});
    is_deeply([messages(@e)], ['x'], "$_->[0]: progress");
    is_deeply([grep { defined $_->[0] } @e], [], 'but no ids');

    $c = call('out("x\n"); nap(600)', 1, @{ $_->[1] });
    $got = '';
    while ($got !~ /"x"/ && (my $rec = $c->read_record)) { $got .= $rec->[2] }
    $c->close;
    ok(wait_for(sub { status() eq 'cancelled' }), 'a closed stream cancels');

    $c = call('nap(600)', undef, @{ $_->[1] });
    ok(wait_for(sub { status() eq 'running' }), 'a run without a word');
    $c->close;
    ok(wait_for(sub { status() eq 'cancelled' }), 'is cancelled as well');
}

is($e[-1][1]{result}{resultType}, 'complete', 'the last is whole');

done_front($f);
