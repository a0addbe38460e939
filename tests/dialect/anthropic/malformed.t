#!/usr/bin/perl

# What is no request for code gets an error of the dialect: never a 500, never
# a run, never silence.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(request => 100_000);
my @api = (RETORT_API => 'anthropic', SCRIPT_NAME => '/anthropic/v1',
           HTTP_ANTHROPIC_VERSION => '1', CONTENT_TYPE => 'application/json');
my $use = '"type":"server_tool_use","name":"bash_code_execution",'
    . '"input":{"command":"POSIX::_exit(1)"}';


sub ask {
    my ($body, %more) = @_;
    return $f->get('POST', '/code_execution', $body, @api, %more);
}

sub refused {
    my ($got, $status, $type, $text, $name) = @_;
    my $is = "$got->{status} " . ($got->{json}{error}{type} // 'nothing');
    is($is, "$status $type", $name);
    like($got->{json}{error}{message} // '', $text, "$name, with its words");
    is($got->{json}{type}, 'error', "$name, in the vendor's form");
    like($got->{json}{request_id}, qr/^req_[0-9a-f]{24}$/, "$name, with an id");
}

sub bad { refused(ask($_[0]), 400, 'invalid_request_error', $_[1], $_[2]) }


# JSON

bad($_->[0], $_->[1], substr($_->[0], 0, 30) =~ s/[^ -~]/?/gr) for
    ['', qr/JSON/], ['{', qr/JSON/], ['[]', qr/object/], ['null', qr/object/],
    ["{\"content\":\"\xff\"}", qr/UTF-8/], ['{} x', qr/JSON/],
    ['{"content":[],"content":[]}', qr/twice/],
    ['{"content":[{"a":"\ud800"}]}', qr/./],
    ['{"content":[NaN]}', qr/JSON/], [('{"a":' x 40) . '1' . ('}' x 40), qr/levels/],
    ["\0", qr/JSON/];

# members

bad($_->[0], $_->[1], substr $_->[0], 0, 60) for
    ['{}', qr/^content: Field required$/],
    ['{"content":null}', qr/^content: Input should be an array/],
    ['{"content":{}}', qr/^content: Input should be an array/],
    ['{"content":[]}', qr/^content: Input should be an array/],
    ['{"content":[' . join(',', (1) x 257) . ']}', qr/of 1 to 256 blocks$/],
    ['{"content":[],"code":"x"}', qr/^code: Extra inputs are not permitted$/],
    ['{"content":[],"container":5}', qr/^container: /],
    ['{"content":[],"container":""}', qr/^container: /],
    ['{"content":[],"container":{"id":5}}', qr/^container: /],
    ['{"content":[],"container":{"skills":[{"skill_id":"x"}]}}',
     qr/^container\.skills: /];

# blocks

bad(qq({"content":[$_->[0]]}), $_->[1], 'a block ' . substr $_->[0], 0, 70) for
    ['5', qr/^content\.0\.type: Field required$/],
    ['null', qr/^content\.0\.type: Field required$/],
    ['[]', qr/^content\.0\.type: Field required$/],
    ['{}', qr/^content\.0\.type: Field required$/],
    ['{"type":5}', qr/^content\.0\.type: Field required$/],
    ['{"type":"image"}', qr/^content\.0\.type: a block is/],
    ['{"type":"_tool_result","tool_use_id":"x"}', qr/^content\.0\.type: a block/],
    ['{"type":"bash_code_execution_tool_result"}', qr/^content\.0\.type: a block/],
    ["{$use}", qr/^content\.0\.id: String should match/],
    ["{$use,\"id\":5}", qr/^content\.0\.id: String should match/],
    ["{$use,\"id\":\"toolu_1\"}", qr/^content\.0\.id: String should match/],
    ["{$use,\"id\":\"srvtoolu_\"}", qr/^content\.0\.id: String should match/],
    ["{$use,\"id\":\"srvtoolu_a-b\"}", qr/^content\.0\.id: String should match/],
    ["{$use,\"id\":\"srvtoolu_" . 'x' x 128 . '"}', qr/^content\.0\.id: String/],
    ['{"type":"server_tool_use","id":"srvtoolu_1","input":{}}',
     qr/^content\.0\.name: there is no such tool here$/],
    ['{"type":"server_tool_use","id":"srvtoolu_1","name":"rm","input":{}}',
     qr/^content\.0\.name: there is no such tool here$/],
    ["{$use,\"id\":\"srvtoolu_1\"},{$use,\"id\":\"srvtoolu_1\"}",
     qr/^content\.1\.id: it stands twice$/],
    [join(',', map { "{$use,\"id\":\"srvtoolu_$_\"}" } 1 .. 33),
     qr/^content: at most 32 runs$/],
    ['{"type":"container_upload"}', qr/^content\.0\.file_id: Field required$/],
    ['{"type":"container_upload","file_id":5}', qr/^content\.0\.file_id: Field/],
    [join(',', ('{"type":"container_upload","file_id":"x"}') x 65),
     qr/^content: at most 64 files$/];

# what the editor is not asked: an error of the block

sub edited {
    my ($input) = @_;
    my $got = ask('{"content":[{"type":"server_tool_use","id":"srvtoolu_1",'
        . '"name":"text_editor_code_execution","input":' . $input . '}]}');
    my $c = $got->{json}{content}[0]{content};
    return join ' ', map { $_ // 'null' } $got->{status},
        @$c{qw(type error_code error_message)};
}

my $error = '200 text_editor_code_execution_tool_result_error '
    . 'invalid_tool_input ';

is(edited($_->[0]), $error . $_->[1], "$_->[0] is refused in its block") for
    ['5', 'input: it must be an object'],
    ['{}', 'command: it must be "view", "create" or "str_replace"'],
    ['{"command":5}', 'command: it must be "view", "create" or "str_replace"'],
    ['{"command":"undo_edit","path":"x"}',
     'command: it must be "view", "create" or "str_replace"'],
    ['{"command":"view"}', 'path: it must be a string'],
    ['{"command":"view","path":""}', 'path: it must be the path of a file'],
    ['{"command":"view","path":"a\u0000b"}', 'path: it must be the path of a file'],
    ['{"command":"view","path":"x","view_range":5}',
     'view_range: it must be two numbers'],
    ['{"command":"view","path":"x","view_range":[1]}',
     'view_range: it must be two numbers'],
    ['{"command":"view","path":"x","view_range":[1,"2"]}',
     'view_range: it must be two numbers'],
    ['{"command":"create","path":"x"}', 'file_text: it must be a string'],
    ['{"command":"str_replace","path":"x","old_str":"a"}',
     'new_str: it must be a string'],
    ['{"command":"str_replace","path":"x","old_str":"","new_str":"a"}',
     'old_str: it must not be empty'];

# messages: all is looked at before a model is asked; here there is none

sub message { $f->get('POST', '/messages', $_[0], @api) }

for (['', qr/JSON/], ['[]', qr/object/], ['{"a":1,"a":2}', qr/twice/],
     ['{}', qr/^messages: Input should be an array/],
     ['{"messages":{}}', qr/^messages: Input should be an array/],
     ['{"messages":[]}', qr/^messages: Input should be an array/],
     ['{"messages":[5]}', qr/^messages: each has a role/],
     ['{"messages":[null]}', qr/^messages: each has a role/],
     ['{"messages":[{"role":"system","content":"x"}]}', qr/each has a role/],
     ['{"messages":[{"role":"user"}]}', qr/^messages: each has a role/],
     ['{"messages":[{"role":"user","content":5}]}', qr/^messages: content is/],
     ['{"messages":[{"role":"user","content":null}]}', qr/^messages: content/],
     ['{"messages":[{"role":"user","content":"x"}],"tools":5}', qr/^tools: /],
     ['{"messages":[{"role":"user","content":"x"}],"container":5}',
      qr/^container: /],
     ['{"messages":[{"role":"user","content":"x"}],"stream":"x"}',
      qr/^stream: Input should be a valid boolean$/],
     ["{\"messages\":[{\"role\":\"assistant\",\"content\":[{$use,"
      . '"id":"x"}]}]}', qr/^content\.0\.id: String should match/],
     ['{"messages":[{"role":"user","content":[{"type":"container_upload"}]}]}',
      qr/^content\.0\.file_id: Field required$/])
{
    refused(message($_->[0]), 400, 'invalid_request_error', $_->[1],
            'a message ' . substr $_->[0], 0, 60);
}

isnt(message($_)->{status}, 200, "$_ is no dialogue without a model") for
    '{"messages":[{"role":"user","content":[5,null,[],{},{"type":5}]}]}',
    '{"messages":[{"role":"user","content":"x"}],"tools":[5,null,{"type":1}]}',
    '{"messages":[{"role":"user","content":[{"type":'
    . '"bash_code_execution_tool_result"}]}],"stream":null}';

# around it

refused(ask("{\"content\":[{$use,\"id\":\"srvtoolu_1\"}]}", CONTENT_TYPE =>
            'text/plain'), 400, 'invalid_request_error', qr/application\/json/,
        'another type');
refused(ask('x' x 200_000), 413, 'request_too_large', qr/at most/, 'too long');
refused($f->get('GET', '/code_execution', '', @api), 405,
        'invalid_request_error', qr/allowed here: POST/, 'another method');
refused(ask('{}', HTTP_ANTHROPIC_VERSION => ''), 400, 'invalid_request_error',
        qr/^anthropic-version: header is required$/, 'no version');

is({ $f->{broker}->counts() }->{SPAWN} // 0, 0, 'nothing of it ran');
done_front($f);
