#!/usr/bin/perl

# MCP as it was before 2026-07-28: initialize, sessions, tools; with the front
# alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 1, ttl_max => 1500, ttl => 1000);
my @mcp = (RETORT_API => 'mcp', SCRIPT_NAME => '/mcp',
           CONTENT_TYPE => 'application/json');
my $r;


sub say_ {
    my ($body, %more) = @_;
    return $f->get('POST', '', $body, @mcp, %more);
}

sub rpc {
    my ($method, $params, %more) = @_;
    return say_({ jsonrpc => '2.0', id => $more{id} // 1, method => $method,
                  $params ? (params => $params) : () },
                map { $_ => $more{$_} } grep { $_ ne 'id' } keys %more);
}

sub tool {
    my ($name, $args, %more) = @_;
    return rpc('tools/call', { name => $name, arguments => $args }, %more);
}

sub open_session {
    return rpc('initialize', { protocolVersion => '2025-06-18' })
        ->{header}{'mcp-session-id'};
}


# the handshake

for (['2025-03-26', '2025-03-26'], ['2025-06-18', '2025-06-18'],
     ['2025-11-25', '2025-11-25'], ['2024-11-05', '2025-11-25'],
     ['2026-07-28', '2025-11-25'])
{
    $r = rpc('initialize', { protocolVersion => $_->[0], capabilities => {} });
    is($r->{status}, 200, "$_->[0] is answered");
    is($r->{json}{result}{protocolVersion}, $_->[1], "with $_->[1]");
}

is_deeply($r->{json}, { jsonrpc => '2.0', id => 1, result => {
    protocolVersion => '2025-11-25', capabilities => { tools => {},
        prompts => {}, resources => {} },
    serverInfo => { name => 'retort', version => 1 } } },
    'initialize tells what there is');
like($r->{header}{'mcp-session-id'}, qr/^mcp_[0-9a-f]{32}$/, 'and a session');
is($r->{header}{'content-type'}, 'application/json', 'in JSON');
is($r->{header}{'x-retort-form'}, 'none',
   'half of an answer would mean nothing to anybody');
is(rpc('initialize')->{json}{result}{protocolVersion}, '2025-11-25',
   'no params are no error');

my $id = $r->{header}{'mcp-session-id'};
my @in = (HTTP_MCP_SESSION_ID => $id, HTTP_MCP_PROTOCOL_VERSION => '2025-11-25');

$r = say_({ jsonrpc => '2.0', method => 'notifications/initialized' }, @in);
is("$r->{status} $r->{body}", '202 ', 'a notification gets 202 and nothing');
$r = say_({ jsonrpc => '2.0', id => 7, result => {} }, @in);
is("$r->{status} $r->{body}", '202 ', 'so does an answer nobody asked for');
$r = say_('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"python",'
          . '"arguments":{"code":"POSIX::_exit(1)"}}}', @in);
is("$r->{status} $r->{body}", '202 ', 'a call without an id is none');

# ids come back as they came

for ('1', '0', '-7', '"1"', '"a b"', '""', '9007199254740993',
     '9223372036854775806', '"\u00e9"')
{
    $r = say_(qq({"jsonrpc":"2.0","id":$_,"method":"ping"}));
    my $want = $_ eq '"\u00e9"' ? "\"\xc3\xa9\"" : $_;
    is($r->{body}, qq({"jsonrpc":"2.0","id":$want,"result":{}}\n),
       "the id $_ is echoed");
}

# what is wrong has its number: body, HTTP, code, id

for (['{', 400, -32700], ['', 400, -32700], ["\xff", 400, -32700],
     ['{"jsonrpc":"2.0","jsonrpc":"2.0"}', 400, -32700],
     ['[' x 40, 400, -32600],
     ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32600],
     ['{}', 400, -32600], ['{"id":1,"method":"ping"}', 400, -32600, 1],
     ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600, 1],
     ['{"jsonrpc":"2.0","id":1}', 400, -32600, 1],
     ['{"jsonrpc":"2.0","id":1,"method":5}', 400, -32600, 1],
     ['{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600],
     ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 400, -32600],
     ['{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600],
     ['{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}', 400,
      -32600],
     ['{"jsonrpc":"2.0","id":"' . 'x' x 129 . '","method":"ping"}', 400,
      -32600],
     ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32602, 1],
     ['{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":1}}', 400,
      -32602, 1],
     ['{"jsonrpc":"2.0","id":1,"method":"nothing"}', 200, -32601, 1],
     ['{"jsonrpc":"2.0","id":1,"method":"server/discover"}', 200, -32601, 1],
     ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}',
      200, -32602, 1],
     ['{"jsonrpc":"2.0","id":1,"method":"tools/call"}', 200, -32602, 1],
     ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}',
      200, -32602, 1],
     ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}',
      200, -32602, 1],
     ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":'
      . '"python","arguments":[]}}', 200, -32602, 1])
{
    my ($body, $status, $code, $echo) = @$_;
    $r = say_($body, CONTENT_TYPE => 'application/json');
    is_deeply([$r->{status}, $r->{json}{error}{code}, $r->{json}{id}],
              [$status, $code, $echo], substr($body, 0, 70) . " is $code");
}

for (['GET', 'POST, DELETE'], ['PUT', 'POST, GET, DELETE']) {
    $r = $f->get($_->[0], '', '', @mcp);
    is($r->{status}, 405, "$_->[0] is refused");
    is($r->{header}{allow}, $_->[1], 'with what is allowed');
    is($r->{json}{jsonrpc}, '2.0', 'as an error of JSON-RPC');
}

is($f->get('POST', '/x', '{}', @mcp)->{status}, 404, 'there is one path');
is(rpc('ping', undef, CONTENT_TYPE => 'text/plain')->{status}, 415,
   'a body is JSON');
is(rpc('ping', undef, HTTP_ACCEPT => 'text/html')->{status}, 406,
   'an answer is, too');
is(rpc('ping', undef, HTTP_ACCEPT => $_)->{status}, 200, "$_ is served")
    for '*/*', 'application/json, text/event-stream';
is(rpc('ping', undef, HTTP_MCP_PROTOCOL_VERSION => $_)->{status}, 400,
   "the version $_ is not spoken") for '2024-11-05', 'x', '2025-01-01';
is(rpc('ping', undef, HTTP_MCP_METHOD => 'ping')->{status}, 200,
   'a method in a header is welcome');
is(rpc('ping', undef, HTTP_MCP_METHOD => 'tools/list')->{status}, 400,
   'if it is true');

for (['http://localhost', 200], ['http://127.0.0.1:8080', 200],
     ['http://[::1]:1', 200], ['http://h', 200], ['http://evil.example', 403],
     ['http://localhost.evil.example', 403], ['null', 403],
     ['http://hh', 403], ['http://localhost:1@evil.example', 403],
     ['http://', 403], ['', 403])
{
    is(rpc('ping', undef, HTTP_ORIGIN => $_->[0], HTTP_HOST => 'evil.example')
       ->{status}, $_->[1], "the origin \"$_->[0]\" gets $_->[1]");
}

for my $method (qw(POST GET DELETE)) {
    $r = $f->get($method, '', '', @mcp, @in, HTTP_ORIGIN => 'http://evil');
    is_deeply([$r->{status}, $r->{json}{error}{code}], [403, -32001],
              "a foreign origin may not even $method");
}

# sessions

is(tool('python', { code => '$v{x} = 5' }, @in)->{json}{result}{isError},
   JSON::PP::false, 'a session has a sandbox');
is(tool('python', { code => 'out($v{x})' }, @in)->{json}{result}
   {structuredContent}{stdout}, '5', 'that it finds again');
my @other = (HTTP_MCP_SESSION_ID => open_session());
is(tool('python', { code => 'out($v{x} // "none")' }, @other)->{json}{result}
   {structuredContent}{stdout}, 'none', 'another session has another');

for (['mcp_' . '0' x 32, 'demo', 404], ['x', 'demo', 404], [$id, 'eve', 404],
     [$id, 'demo', 200])
{
    $r = rpc('tools/list', undef, HTTP_MCP_SESSION_ID => $_->[0],
             RETORT_WORKSPACE => $_->[1]);
    is($r->{status}, $_->[2], "session $_->[0] of $_->[1]: $_->[2]");
}

is(tool('python', { code => 'nap(3); out("late")', timeout => 10 }, @in)->{json}
   {result}{structuredContent}{stdout}, 'late', 'a call lasts for longer than a '
   . 'session may rest');
is(rpc('ping', undef, @in)->{status}, 200, 'which is not over by that');
my $png = 'show(0, "image/png", "\x89PNG\r\n\x1a\ndata")';

for (['2025-03-26', 1], ['2025-06-18', 2], ['2025-11-25', 2]) {
    my ($version, $blocks) = @$_;
    my $agreed = rpc('initialize', { protocolVersion => $version });

    is(scalar @{ tool('python', { code => $png }, HTTP_MCP_SESSION_ID =>
        $agreed->{header}{'mcp-session-id'}, RETORT_MCP_PICTURES => 'link')
        ->{json}{result}{content} }, $blocks, "who does not say it again speaks "
       . "$version: links are known since the next one");
}

my $sbx = tool('python', { code => '1' }, @in)->{json}{result}
    {structuredContent}{sandbox_id};
my @delete = ($f->get('DELETE', '', '', @mcp, @in),
              $f->get('DELETE', '', '', @mcp, @in),
              $f->get('DELETE', '', '', @mcp),
              $f->get('DELETE', '', '', @mcp, @other,
                      RETORT_WORKSPACE => 'eve'));
is_deeply([map { $_->{status} } @delete], [204, 404, 400, 404],
          'a session is ended once, by its own workspace');
is(rpc('ping', undef, @in)->{status}, 404, 'an ended one is not found');
is($f->get('GET', "/sandboxes/$sbx", '')->{status}, 410,
   'and its sandbox is gone');
ok(wait_for(sub { sleep 2; rpc('ping', undef, @other)->{status} == 404 }),
   'one that nobody uses ends, too');

done_front($f);
