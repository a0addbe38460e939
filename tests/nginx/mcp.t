#!/usr/bin/perl

# MCP in the worker: which messages count as runs, what a client gets of a lost
# one, and which tools the front is told of.

use strict;
use warnings;

use JSON::PP;
use Test::More;

use Retort::FakeFront;
use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    retort_workspace demo;
    retort_tools bash;
    server {
        listen 127.0.0.1:%%PORT%%;
        location = /mcp {
            retort_pass unix:%%DIR%%/front.sock;
            retort_api mcp;
            retort_tools python code_interpreter;
            retort_mcp_pictures link;
            retort_mcp_fixtures on;
        }
        location = /prisme/mcp {
            retort_pass unix:%%DIR%%/front.sock;
            retort_api prisme;
        }
    }
}
EOC

my $front = Retort::FakeFront->new($ng->dir . '/front.sock', sub {
    my $req = shift;
    my $how = $req->{params}{QUERY_STRING};

    $req->stdin;
    return $req->answer('Content-Type: application/json', '{}')
        unless $how;

    $req->send("Content-Type: application/json\r\nX-Retort-Form: none\r\n"
               . "Content-Length: 20\r\n\r\n{\"jsonrpc\"") if $how eq 'half';
    $req->close;
});

$ng->start;


sub ask {
    my ($method, $path, @lines) = @_;
    my $s = $ng->connect;
    print $s join "\r\n", "$method $path HTTP/1.1", 'Host: localhost',
        'Connection: close', 'Content-Length: 2', @lines, '', '{}';
    return $ng->response($s, $method);
}


for (['/mcp', 'mcp', 'python code_interpreter'], ['/prisme/mcp', 'prisme',
      'bash'])
{
    my ($path, $api, $tools) = @$_;

    $front->forget;
    is ask('POST', $path)->{status}, 200, "$path is answered";
    my $p = $front->last_request->{params};
    is $p->{RETORT_API}, $api, "the front is told that it is $api";
    is $p->{RETORT_TOOLS}, $tools, 'and which tools there are';
    is_deeply [@$p{qw(RETORT_MCP_PICTURES RETORT_MCP_FIXTURES)}],
        $api eq 'mcp' ? ['link', 'on'] : [undef, undef],
        'how pictures come, and of fixtures only where they are';
    is "$p->{SCRIPT_NAME} $p->{PATH_INFO}", "$path ", 'the path is all prefix';
}

# Prisme's tool has a result, come what may, and the id that was asked with

my %ids = (
    '"id":7' => 7, '"a":{"id":1},"id" : -12 ' => -12,
    '"id":"a\\"b\\u00e9","z":["id",{"id":5}]' => '"a\\"b\\u00e9"',
    '"params":{"name":"id"},"id":"x"' => '"x"', '"idd":1,"i":2,"id":3' => 3,
    (map { $_ => undef } '"idd":1', '"id":null', '"id":[1]', '"id":{"id":1}',
     '"id":1,"id":2', qq("id":"\xc3\xa9"), '"id":"\\x"', '"id":1,}', '"id":"' . 'x' x 140 . '"',
     'x', '"a":"id":1', '"\\u0069d":1'),
);

for my $text (sort keys %ids) {
    my $r = $ng->request('POST', '/prisme/mcp?eof',
        { 'content-type' => 'application/json' }, "{$text}");
    is $r->{status}, defined $ids{$text} ? 200 : 502, "an id in $text";
    my $id = $ids{$text} // 'null';
    like $r->{body}, qr/^\{"jsonrpc":"2.0","id":\Q$id\E,"result":/,
        "is $id in the answer";
}

my $gone = $ng->request('POST', '/prisme/mcp?eof',
    { 'content-type' => 'application/json' }, '{"id":1}');
is $gone->{status}, 200, 'Prisme\'s tool has a result, come what may';
is eval { decode_json($gone->{body}) }->{result}{structuredContent}{error}
    {code}, 'CodeSandboxUnreachable', 'which says what is the matter';

for (['no method'], ['a call', 'tools/call'], ['two', 'ping', 'ping'],
     ['a call after another', 'ping', 'tools/call'],
     ['a call in base64', '=?base64?dG9vbHMvY2FsbA==?='],
     ['a call with a tab', "\ttools/call"], ['with a digit', 'tools1'])
{
    my ($name, @methods) = @$_;
    my $r = ask('POST', '/mcp?eof', map { "Mcp-Method: $_" } @methods);
    my $doc = eval { decode_json($r->{body}) } // {};

    is $r->{status}, 502, "$name: it is lost";
    is $r->{header}{'content-type'}, 'application/json', 'as JSON';
    is_deeply [@$doc{qw(jsonrpc id)}, $doc->{error}{code}],
        ['2.0', undef, -32603], 'and as an error of JSON-RPC';
    like $doc->{error}{data}{execution_id}, qr/^exec_local_[0-9a-f]{32}$/,
        'with the id of the run';
    like $ng->access(qr/$doc->{error}{data}{execution_id}/), qr/"lost"/,
        'that the log has, too';
}

for ('ping', 'tools/list', 'initialize', 'notifications/cancelled') {
    my $r = ask('POST', '/mcp?eof', "Mcp-Method: $_");
    is decode_json($r->{body})->{error}{data}{code}, 'bad_gateway',
        "$_ is no run";
}

is decode_json(ask($_, '/mcp?eof')->{body})->{error}{data}{code},
    'bad_gateway', "nor is $_" for qw(GET DELETE);

my $r = ask('POST', '/mcp?half');
ok !$r->{whole}, 'half of an answer is cut off';
is $r->{body}, '{"jsonrpc"', 'and nothing is put behind it';

$front->stop;
$ng->finish;
done_testing;
