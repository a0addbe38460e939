#!/usr/bin/perl

# The MCP server of a pool, as Azure's samples and stock clients use it; with
# the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use MIME::Base64 qw(encode_base64);
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(threads => 16);
my $r;


sub rpc {
    my ($method, $params, %more) = @_;
    return $f->get('POST', '', { jsonrpc => '2.0', id => '2',
        method => $method, defined $params ? (params => $params) : () },
        RETORT_API => 'azure_mcp', SCRIPT_NAME => '/azure/mcp', %more);
}

sub tool {
    my ($name, $args, %more) = @_;
    return rpc('tools/call', { name => $name, arguments => $args }, %more)
        ->{json};
}

sub python {
    my ($id, $code, %args) = @_;
    return tool('runPythonCodeInRemoteEnvironment', { environmentId => $id,
        pythonCode => $code, %args });
}

sub shell {
    my ($id, %args) = @_;
    return tool('runShellCommandInRemoteEnvironment',
                { environmentId => $id, %args });
}

# the beginning, as the samples have it

$r = rpc('initialize');
is($r->{body}, '{"jsonrpc":"2.0","id":"2","result":{"protocolVersion":'
   . '"2025-03-26","capabilities":{"tools":{"call":true,"list":true}},'
   . '"serverInfo":{"name":"Microsoft Container Apps MCP Server",'
   . '"version":"1.0.0"}}}' . "\n", 'initialize without params');
is($r->{header}{'mcp-session-id'}, undef, 'there are no sessions');
is(rpc('initialize', { protocolVersion => '2025-11-25' })->{json}{result}
   {protocolVersion}, '2025-03-26', 'nor other versions');
$r = $f->get('POST', '', { jsonrpc => '2.0',
    method => 'notifications/initialized' }, RETORT_API => 'azure_mcp');
is("$r->{status}$r->{body}", '202', 'a notification is taken');
is_deeply(rpc('ping')->{json}{result}, {}, 'a ping');
is_deeply([map { $_->{name} } @{rpc('tools/list')->{json}{result}{tools}}],
    [qw(launchShell runPythonCodeInRemoteEnvironment
        runShellCommandInRemoteEnvironment)], 'three tools');
is(rpc('nothing')->{json}{error}{code}, -32601, 'no other method');
is(tool('python', { code => 'out(1)' })->{error}{code}, -32602,
   'no other tool');

# environments

my $boxes = sub { my %n = $f->{broker}->counts(); $n{boxes} };
my $before = $boxes->();
$r = rpc('tools/call', { name => 'launchShell', arguments => {} });
my $id = $r->{json}{result}{structuredContent}{environmentId};
like($id, qr/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
     'an environment is named');
is($r->{body}, '{"jsonrpc":"2.0","id":"2","result":{"content":[{"type":'
   . '"text","text":"{\"environmentId\":\"' . $id . '\"}"}],"isError":false,'
   . '"structuredContent":{"environmentId":"' . $id . '"}}}' . "\n",
   'in an answer, whole');
is($boxes->(), $before, 'and is not made before something runs in it');
like(tool('launchPythonEnvironment', {})->{result}{structuredContent}
     {environmentId}, qr/^[0-9a-f-]{36}$/, 'an older name of the tool');

$r = python($id, 'out("42\n"); $v{x} = 1')->{result};
$r->{structuredContent}{executionTimeInMilliseconds} = 'N';
is_deeply($r->{structuredContent}, { stdout => "42\n", stderr => '',
    exitCode => 0, executionResult => undef, status => 'Succeeded',
    executionTimeInMilliseconds => 'N' }, 'code runs');
like($r->{content}[0]{text}, qr/^\{"stdout":"42\\n","stderr":"","exitCode":0,/,
     'its text says the same');
is(python($id, 'out($v{x})')->{result}{structuredContent}{stdout}, '1',
   'variables stay');
is($f->get('POST', '/executions', { code => 'out($v{x})' }, RETORT_API =>
    'azure', QUERY_STRING => "api-version=1&identifier=$id")->{json}{result}
    {stdout}, '1', 'it is the session that REST calls by that name');
is(python('my-own-name', 'out($v{x} // "new")')->{result}
   {structuredContent}{stdout}, 'new', 'a name of the client\'s own is good');

# what fails

$r = python($id, 'err("e\n"); die "oops\n"')->{result};
is_deeply([$r->{isError}, @{$r->{structuredContent}}{qw(stderr exitCode)}],
          [JSON::PP::false, "e\nTraceback\nFault: oops\n", 1],
          'code that fails is a result');
$r = python($id, 'nap(30)', timeoutInSeconds => 1)->{result};
is_deeply([$r->{isError}, $r->{structuredContent}{status}],
          [JSON::PP::true, 'Failed'], 'one that takes too long is an error');
is(python($id, 'nap(30)', timeoutSeconds => 1)->{result}{structuredContent}
   {stderr}, 'Timeout: Code execution exceeded the time limit.',
   'by either name of the limit');
is(python($id, 'out("x" x 5000)')->{result}{structuredContent}{stdout},
   'x' x 4096, 'a stream has 4,096 characters');
$f->{broker}->tell('spawn', 3);
$r = python('newcomer', 'out(1)')->{result};
like($r->{structuredContent}{stderr}, qr/^SessionsCountExceedsLimit: /,
     'no room for an environment');
ok($r->{isError}, 'is an error');
$f->{broker}->tell('spawn', 0);

# shells

is(shell($id, shellCommand => 'out("s"); done(1, 3)')->{result}
   {structuredContent}{exitCode}, 3, 'a command has its exit code');
is(shell($id, %$_)->{error}{code}, -32602, 'not one command')
    for {}, { shellCommand => '' }, { execCommandAndArgs => [] },
        { execCommandAndArgs => [1] }, { shellCommand => 1 },
        { shellCommand => 'a', execCommandAndArgs => ['b'] };

# arguments

is(tool('runPythonCodeInRemoteEnvironment', $_)->{error}{code}, -32602,
   'bad arguments') for {}, { environmentId => $id }, { pythonCode => 'x' },
    { environmentId => 'a', pythonCode => 'x' }, { environmentId => 5,
    pythonCode => 'x' }, { environmentId => $id, pythonCode => 'x', more => 1 },
    { environmentId => $id, pythonCode => 'x', timeoutInSeconds => 0 };
is(tool('launchShell', { a => 1 })->{error}{code}, -32602, 'none where none');

# pictures

$r = python($id, 'show(2, "image/png", "\x89PNG\r\n\x1a\n" . "x" x 40)')
    ->{result};
my $png = encode_base64("\x89PNG\r\n\x1a\n" . 'x' x 40, '');
is_deeply($r->{structuredContent}{executionResult}, { type => 'image',
    format => 'png', base64_data => $png }, 'a picture is the result');
is_deeply($r->{content}[1], { type => 'image', mimeType => 'image/png',
    data => $png }, 'a block');
unlike($r->{content}[0]{text}, qr/base64_data/, 'and not letters in a text');

# a location that knows its own environments only

my %strict = (RETORT_STRICT => '1');
my %run = (name => 'runPythonCodeInRemoteEnvironment');
$r = rpc('tools/call', { %run, arguments => { environmentId => 'my-own-name',
    pythonCode => 'out(1)' } }, %strict)->{json};
is_deeply($r->{error}, { code => -32000,
    message => 'Environment not found: my-own-name' }, 'no other is found');
for my $who ('demo', 'other') {
    $r = rpc('tools/call', { %run, arguments => { environmentId => $id,
        pythonCode => 'out(1)' } }, %strict, RETORT_WORKSPACE => $who)
        ->{json};
    is(defined $r->{error} ? 'not found' : 'found',
       $who eq 'demo' ? 'found' : 'not found', "one of demo, by $who");
}

done_front($f);
