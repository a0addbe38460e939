#!/usr/bin/perl

# Prisme's execute_python: its one tool, its result, its habits; with the front
# alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start();
my $r;


sub rpc {
    my ($method, $params, %more) = @_;
    return $f->get('POST', '', { jsonrpc => '2.0', id => 7,
        method => $method, params => $params // {} }, RETORT_API => 'prisme',
        SCRIPT_NAME => '/prisme/mcp', %more);
}

sub script {
    my ($code, %args) = @_;
    return rpc('tools/call', { name => 'execute_python',
                               arguments => { code => $code, %args } })
        ->{json}{result};
}

$r = rpc('initialize', { protocolVersion => '1' });
is($r->{json}{result}{protocolVersion}, '2025-06-18', 'its version');
is($r->{header}{'mcp-session-id'}, undef, 'it has no sessions');
is(rpc('initialize', { protocolVersion => '2025-03-26' })->{json}{result}
   {protocolVersion}, '2025-03-26', 'or the one that is offered');
$r = $f->get('POST', '', { jsonrpc => '2.0', method =>
    'notifications/initialized' }, RETORT_API => 'prisme');
is("$r->{status} $r->{body}", '200 ', 'a notification gets 200 and nothing');

$r = rpc('tools/list')->{json}{result}{tools};
is_deeply([map { $_->{name} } @$r], ['execute_python'], 'there is one tool');
is_deeply([map { $_->{name} } @{ rpc('tools/list', {}, RETORT_TOOLS =>
          'python bash')->{json}{result}{tools} }], ['execute_python'],
          'whatever others are offered around it');
is_deeply($r->[0]{inputSchema}, { type => 'object', properties => {
    code => { type => 'string' }, files => { type => 'array',
    items => { type => 'string' } } }, required => ['code'] }, 'its schema');
is_deeply(rpc('tools/call', { name => 'x' })->{json}{error},
    { code => -32601, message => 'Tool not found: x' }, 'no other tool');
is_deeply(rpc($_)->{json}{error},
    { code => -32601, message => "Method not found: $_" }, "no method $_")
    for qw(x prompts/list prompts/get resources/list resources/read
           resources/templates/list tasks/get logging/setLevel);
is($f->get($_, '', '', RETORT_API => 'prisme')->{header}{allow}, 'POST',
   "no $_") for qw(GET DELETE);

$r = rpc('tools/call', { name => 'execute_python',
                         arguments => { code => 'out("5\n")' } });
is($r->{body}, '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text",'
   . '"text":"{\"result\":\"5\\\\n\",\"logs\":[]}"}],"isError":false,'
   . '"structuredContent":{"result":"5\n","logs":[]}}}' . "\n",
   'a whole answer');

# the value, as the sandbox tells it; what is none is the expression's text

my $form = 'application/vnd.retort.value+json';

is(script('out($env{RETORT_VALUE})')->{structuredContent}{result}, '1',
   'the value is asked for');

for (['{"value":5}', '5'], ['{"value":[1,-2.5,null]}', '[1,-2.5,null]'],
     ['{"value":"a"}', '"a"'], ['{"value":{"b":true}}', '{"b":true}'],
     ['{"value":NaN}', '"x"'], ['{"other":1}', '"x"'], ['[1]', '"x"'],
     ['{"value":1', '"x"'])
{
    my $s = script("show(1, 'text/plain', 'x'); show(0, '$form', q($_->[0]))")
        ->{content}[0]{text};
    is($s, qq({"result":$_->[1],"logs":[]}), "the value $_->[0]");
}

is_deeply(script('out("a"); show(1, "text/plain", "5")')->{structuredContent},
          { result => 'a', logs => [] }, 'what is printed comes first');
is_deeply(script('err("a\nb\n"); err("c")')->{structuredContent},
          { result => undef, logs => ['a', 'b', 'c'] }, 'stderr is logs');

$r = script('out("before"); die "oops\n"');
is_deeply($r->{structuredContent}, { result => 'before', logs => [],
    error => { code => 'Fault', message => 'Fault: oops',
               stack => "Traceback\nFault: oops\n" } },
    'a failure has its traceback');
ok($r->{isError}, 'and is an error');
is(script('error("E", "m", "E: m\n", "\e[0;31mE\e[0m: m\n"); done(1);'
          . ' $v{mute} = 1')->{structuredContent}{error}{stack}, "E: m\n",
   'without colours');

script('$v{x} = 1');
is(script('out($v{x} // "none")')->{structuredContent}{result}, 'none',
   'nothing stays');

# files

is(script('out($files{"a b.csv"})', files =>
          ['data:text/csv;name=a%20b.csv;base64,aGk='])
   ->{structuredContent}{result}, 'hi', 'a file is there before the run');
is(script('out(1)', files => [$_])->{structuredContent}{error}{code},
   'FileDownloadError', "$_ fails the call")
    for 'ftp://example.org/a.csv', 'data:text/csv,no%20name', 'x';
is(script('out(1)', files => 'x')->{structuredContent}{error}{code},
   'bad_value', 'files are a list');

$f->{broker}->tell('spawn', $_),
    is(script('out(1)')->{structuredContent}{error}{code},
       'CodeSandboxUnreachable', "no sandbox to be had ($_): so it is called")
    for 3, 5;
$f->{broker}->tell('spawn', 0);
is(script('out(1)')->{structuredContent}{result}, '1', 'until there is one');

# what is wrong before the message is read

$r = rpc('ping', {}, RETORT_PROFILE => 'none');
is_deeply([$r->{status}, $r->{json}{id}, $r->{json}{result}{isError},
           $r->{json}{result}{structuredContent}{error}{code}],
          [500, undef, JSON::PP::true, 'CodeSandboxUnreachable'],
          'a fault of ours is a result, too');
is(rpc('ping', {}, HTTP_ORIGIN => 'http://evil')->{json}{error}{code}, -32001,
   'one of the client is an error');

done_front($f);
