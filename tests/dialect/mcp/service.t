#!/usr/bin/perl

# MCP through the whole service: real Python, real pictures.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use IO::Socket::INET;
use JSON::PP;
use MIME::Base64 qw(decode_base64);
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1, profiles => { default => {
    import => 'matplotlib.pyplot' } });
my $pass = "retort_pass unix:$s->{dir}/run/front.sock; "
    . "retort_auth_key_file $s->{dir}/keys; retort_static_url http://h/s;";

$s->{location} = <<"CONF";
location = /mcp { retort_api mcp; $pass }
location = /prisme/mcp { retort_api prisme; $pass }
location = /all { retort_api mcp; $pass
    retort_tools code_execution bash_code_execution
        text_editor_code_execution; }
CONF
$s->configure;
$s->start;

my $json = JSON::PP->new->utf8->canonical;


sub rpc {
    my ($path, $method, $params, @head) = @_;
    my $r = $s->request('POST', $path, $json->encode({ jsonrpc => '2.0',
        id => 1, method => $method, params => $params // {} }),
        'content-type' => 'application/json', @head);
    $r->{json} = eval { $json->decode($r->{content}) };
    return $r;
}

sub tool {
    my ($path, $name, $args, @head) = @_;
    return rpc($path, 'tools/call', { name => $name, arguments => $args },
               @head)->{json}{result};
}

my $r = rpc('/mcp', 'initialize', { protocolVersion => '2025-11-25' });
my @in = ('mcp-session-id' => $r->{headers}{'mcp-session-id'} // '',
          'mcp-protocol-version' => '2025-11-25');

like($in[1], qr/^mcp_/, 'a session is opened');
tool('/mcp', 'python', { code => 'x = 6; open("a.txt", "w").write("hi")' }, @in);
is(tool('/mcp', 'python', { code => 'x * 7' }, @in)->{structuredContent}
   {result}, '42', 'its variables stay');
$r = tool('/mcp', 'bash', { code => 'cat a.txt; exit 3' }, @in);
is($r->{structuredContent}{stdout}, 'hi', 'bash sees its files');
is($r->{structuredContent}{exit_code}, 3, 'and has an exit code');

$r = tool('/mcp', 'python', { code => 'import matplotlib.pyplot as plt; '
    . 'plt.plot([1, 2]); plt.show()' }, @in);
is($r->{content}[1]{type}, 'image', 'a figure is in the answer');
like(decode_base64($r->{content}[1]{data}), qr/^\x89PNG\r\n/, 'as a PNG');

$r = tool('/mcp', 'python', { code => '1/0' }, @in);
ok($r->{isError}, 'a failure is an error');
like($r->{structuredContent}{error}{traceback}, qr/Traceback.*ZeroDivision/s,
     'with its traceback');

$r = tool('/prisme/mcp', 'execute_python', { code => "import statistics\n"
    . 'print(statistics.mean([2, 4, 9]))' });
is_deeply($r->{structuredContent}, { result => "5\n", logs => [] },
          'execute_python prints');
is(tool('/prisme/mcp', 'execute_python', { code => '[1, 2.5]' })
   ->{content}[0]{text}, '{"result":[1,2.5],"logs":[]}', 'or has a value');

for (['result = {"a": [1, None, "x"]}; 7', '{"a":[1,null,"x"]}', 'of result'],
     ['result = 5', '5', 'though nothing is said'],
     ['True', 'true', 'that is true'], ['"a"', '"a"', 'that is a text'],
     ['{1, 2}', '"{1, 2}"', 'that is no JSON, as its repr'],
     ['float("nan")', '"nan"', 'that JSON has no word for'],
     ['2 ** 80', '"1208925819614629174706176"', 'too large for JSON'],
     ['import numpy; numpy.arange(2)', '"array([0, 1])"', 'of numpy'],
     ['result = []; result.append(result)', '"[[...]]"', 'that has no end'],
     ['x = 1', 'null', 'that there is none'])
{
    my ($code, $value, $what) = @$_;
    is(tool('/prisme/mcp', 'execute_python', { code => $code })
       ->{content}[0]{text}, qq({"result":$value,"logs":[]}),
       "a value $what");
}

$r = tool('/prisme/mcp', 'execute_python', { code => 'None.x' });
is($r->{structuredContent}{error}{code}, 'AttributeError', 'or an exception');
like($r->{structuredContent}{error}{message},
     qr/^AttributeError: 'NoneType' object/, 'with its message');

# a stream that is cut goes on where it was

my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$s->{port}");
my $body = $json->encode({ jsonrpc => '2.0', id => 'cut', method =>
    'tools/call', params => { name => 'python', arguments => { code =>
    "import time\nprint('one', flush=True)\ntime.sleep(1)\nprint('two')" },
    _meta => { progressToken => 1 } } });
my ($got, $last) = ('', '');

print $socket join "\r\n", 'POST /mcp HTTP/1.1', 'Host: localhost',
    "Authorization: Bearer $s->{key}", 'Content-Type: application/json',
    'Accept: application/json, text/event-stream', "Mcp-Session-Id: $in[1]",
    "MCP-Protocol-Version: $in[3]", 'Content-Length: ' . length $body, '',
    $body;
while ($got !~ /"one"/ && sysread $socket, my $more, 4096) { $got .= $more }
close $socket;
$last = $1 while $got =~ /^id: (\S+)/mg;
$r = $s->request('GET', '/mcp', '', @in, 'last-event-id' => $last);
is($r->{headers}{'content-type'}, 'text/event-stream', 'a cut stream goes on');
unlike($r->{content}, qr/"message":"one"/, 'behind what was told');
like($r->{content}, qr/"message":"two".*"id":"cut","result"/s,
     'until the answer');

# a page whose name was bent to this machine

for (['evil.example', 403], ['localhost', 200], ['h', 200]) {
    my ($host, $status) = @$_;
    my $ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

    $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$s->{port}");
    print $socket join "\r\n", 'POST /mcp HTTP/1.1', "Host: $host",
        "Authorization: Bearer $s->{key}", 'Content-Type: application/json',
        'Connection: close', 'Content-Length: ' . length $ping, '', $ping;
    like(scalar <$socket>, qr{^HTTP/1.1 $status }, "the host $host: $status");
}

# Anthropic's tools, in a sandbox that is named

my $box;

sub block {
    my ($name, %args) = @_;
    my $r = tool('/all', $name, { %args, $box ? (sandbox_id => $box) : () });
    $box = $r->{structuredContent}{sandbox_id} // $box;
    return ($r->{structuredContent}, $r->{isError});
}

($r) = block('code_execution', code => 'x = 6; print("hi")');
is_deeply([@$r{qw(type stdout stderr return_code content)}],
          ['code_execution_result', "hi\n", '', 0, []], 'code_execution');
($r) = block('bash_code_execution',
             command => 'echo 1 > $OUTPUT_DIR/a.txt; echo e >&2; exit 3');
is_deeply([@$r{qw(type stderr return_code)}],
          ['bash_code_execution_result', "e\n", 3], 'bash_code_execution');
is($r->{content}[0]{type}, 'bash_code_execution_output', 'and its file');
$r = rpc('/all', 'resources/read', { uri => 'retort://artifacts/'
    . ($r->{content}[0]{file_id} // '') })->{json}{result}{contents}[0];
is($r->{text}, "1\n", 'that is a resource');
($r) = block('text_editor_code_execution', command => 'create',
             path => 'b.py', file_text => "a = 1\n");
is($r->{type}, 'text_editor_code_execution_create_result', 'the editor writes');
($r) = block('text_editor_code_execution', command => 'str_replace',
             path => 'b.py', old_str => 'a = 1', new_str => 'a = 2');
is_deeply($r->{lines}, ['-a = 1', '+a = 2'], 'and replaces');
($r) = block('code_execution', code => 'exec(open("b.py").read()); print(a, x)');
is($r->{stdout}, "2 6\n", 'all of them in one sandbox');

for (['code_execution', code => ''], ['bash_code_execution', command => ''],
     ['text_editor_code_execution', command => 'fly', path => 'a'])
{
    my ($e, $failed) = block(@$_);
    ok($failed, "$_->[0]: bad input is an error");
    is($e->{error_code}, 'invalid_tool_input', 'with its code');
}

is($s->request('DELETE', '/mcp', '', @in)->{status}, 204, 'a session ends');
is(rpc('/mcp', 'ping', {}, @in)->{status}, 404, 'and is not found again');

$s->end;
done_testing;
