#!/usr/bin/perl

# Clients of MCP that want to do harm: whatever they say is answered, as an
# error of the protocol or of the tool, in JSON that others can read, and the
# next one is served as ever; with the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 1);
my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $M = 'io.modelcontextprotocol';
my $V = '2026-07-28';
my %all = (RETORT_API => 'mcp', SCRIPT_NAME => '/mcp', RETORT_TOOLS =>
    'python bash write_file read_file list_files execute_python '
    . 'code_interpreter text_editor_code_execution launchShell '
    . 'runPythonCodeInRemoteEnvironment', CONTENT_TYPE => 'application/json',
    HTTP_ACCEPT => 'application/json');
my @in = (HTTP_MCP_SESSION_ID => $f->get('POST', '', { jsonrpc => '2.0',
    id => 1, method => 'initialize' }, %all)->{header}{'mcp-session-id'});


# bytes as they are; the answer, which has to be one

sub ask {
    my ($name, $body, %more) = @_;
    my $r = $f->get('POST', '', $body, %all, %more);
    my $o = eval { $json->decode($r->{body}) };

    cmp_ok($r->{status}, '<', 500, "$name: it is no failure of ours");
    ok($r->{status} == 202 || (ref $o eq 'HASH' && $o->{jsonrpc} eq '2.0'
       && (exists $o->{result} xor exists $o->{error})), "$name: an answer")
        or diag($r->{status}, ' ', substr $r->{body}, 0, 300);
    cmp_ok(length $r->{body}, '<', 20_000, "$name: of some lines");
    return $o // {};
}

sub rpc {
    my ($name, $method, $params, %more) = @_;
    return ask($name, qq({"jsonrpc":"2.0","id":1,"method":$method)
               . (defined $params ? qq(,"params":$params) : '') . '}', %more);
}

sub call {
    my ($name, $tool, $args, @more) = @_;
    return rpc($name, '"tools/call"', qq({"name":"$tool","arguments":$args}),
               @more);
}


# names that are long, cut within a character, or have an end in them

my $wide = "\xc3\xa9" x 20_000;

for (['a long name', $wide], ['one that is odd', "a$wide"],
     ['one with a NUL', 'python\u0000x'], ['of escapes', '\u0001' x 200],
     ['of markup', '</script>\"\\\\\u2028'], ['of format', '%s%n%1000000d'])
{
    my ($what, $name) = @$_;

    is(call("a tool, $what", $name, '{}')->{error}{code}, -32602,
       'there is no such tool');
    is(rpc("a method, $what", qq("$name"))->{error}{code},
       $what =~ /NUL/ ? -32600 : -32601, 'nor method');
    is(rpc("a prompt, $what", '"prompts/get"', qq({"name":"$name"}))
       ->{error}{code}, -32602, 'nor prompt');
    is(rpc("a cursor, $what", '"tools/list"', qq({"cursor":"$name"}))
       ->{error}{code}, -32602, 'nor cursor');
    is(rpc("a key, $what", '"tools/call"', qq({"name":"python","arguments":)
           . qq({"$name":1}}))->{result}{isError} // 'error',
       $what =~ /NUL/ ? 'error' : JSON::PP::true, 'nor argument');
    ok(rpc("a sandbox, $what", '"tools/call"', '{"name":"python","arguments":'
           . qq({"code":"1","sandbox_id":"$name"}}))->{result}{isError},
       'nor sandbox');
    ok(call("a path, $what", 'read_file', qq({"path":"$name"}), @in)
       ->{result}{isError}, 'nor file');
}

# members of other types

my @odd = ('null', 'true', '0', '-1', '1e400', '1.5', '""', '[]', '{}', '[[]]',
           '{"a":{"b":[1]}}');

for my $v (@odd) {
    rpc("params $v", '"tools/list"', $v);
    rpc("a name $v", '"tools/call"', qq({"name":$v}));
    rpc("arguments $v", '"tools/call"', qq({"name":"python","arguments":$v}));
    rpc("a uri $v", '"resources/read"', qq({"uri":$v}));
    rpc("a cursor $v", '"resources/list"', qq({"cursor":$v}), @in);
    rpc("a version $v", '"initialize"', qq({"protocolVersion":$v}));
    rpc("a token $v", '"tools/call"', qq({"name":"python","arguments":{"code":)
        . qq("1"},"_meta":{"progressToken":$v}}));
    ask("a cancelled $v", '{"jsonrpc":"2.0","method":"notifications/cancelled",'
        . qq("params":{"requestId":$v}}), @in);
    ask("an answer $v", qq({"jsonrpc":"2.0","id":1,"result":$v}), @in);
    call("a code $v", 'python', qq({"code":$v}), @in) if $v ne '""';
    call("$v by base64", 'write_file', qq({"path":"x","base64":$v}));
    call("files $v", 'execute_python', qq({"code":"1","files":$v}));
    call("a range $v", 'text_editor_code_execution', '{"command":"view",'
         . qq("path":"a","view_range":$v}), @in);
    rpc("a _meta $v", '"ping"', qq({"_meta":$v}));
    ask("in 2026, capabilities $v", '{"jsonrpc":"2.0","id":1,"method":'
        . qq("tools/list","params":{"_meta":{"$M/protocolVersion":"$V",)
        . qq("$M/clientCapabilities":$v}}}), HTTP_MCP_METHOD => 'tools/list',
        HTTP_MCP_PROTOCOL_VERSION => $V);
    ask("in 2026, extensions $v", '{"jsonrpc":"2.0","id":1,"method":'
        . qq("tasks/get","params":{"taskId":"x","_meta":{"$M/protocolVersion":)
        . qq("$V","$M/clientCapabilities":{"extensions":$v}}}}),
        HTTP_MCP_METHOD => 'tasks/get', HTTP_MCP_NAME => 'x',
        HTTP_MCP_PROTOCOL_VERSION => $V);
}

# headers

for my $v ('x' x 8000, "\xff\xfe", '=?base64?' . 'A' x 7000 . '?=', '%00', ',',
           '=?base64?AA==?=')
{
    for my $name (qw(MCP_PROTOCOL_VERSION MCP_METHOD MCP_NAME MCP_SESSION_ID
                     ORIGIN ACCEPT LAST_EVENT_ID HOST))
    {
        rpc("$name " . unpack('H8', $v), '"ping"', undef, "HTTP_$name" => $v,
            RETORT_HOST_STRANGE => 'on');
    }
}

# much of everything

call('keys by thousands', 'python', '{' . join(',', map { qq("k$_":1) }
     1 .. 5000) . '}');
rpc('as deep as may be', '"ping"', '{"a":' x 30 . '1' . '}' x 30);
rpc('deeper', '"ping"', '{"a":' x 40 . '1' . '}' x 40);
ask('spaces', ' ' x 100_000 . '{"jsonrpc":"2.0","id":1,"method":"ping"}');
ask('cancelled by thousands', '{"jsonrpc":"2.0","method":'
    . '"notifications/cancelled","params":{"requestId":"' . 'x' x 50_000
    . '"}}', @in) for 1 .. 3;

is_deeply(rpc('the next one', '"ping"')->{result}, {}, 'is served as ever');
is(call('in the session', 'python', '{"code":"out(1)"}', @in)->{result}
   {structuredContent}{stdout}, '1', 'that there was');

done_front($f);
