#!/usr/bin/perl

# What the tools of MCP take and give back, and how a call is cancelled; with
# the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use MIME::Base64 qw(decode_base64);
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 1, image => 6_000_000);
my $all = 'python bash execute_python code_interpreter';
my @mcp = (RETORT_API => 'mcp', SCRIPT_NAME => '/mcp', RETORT_TOOLS => $all,
           HTTP_MCP_PROTOCOL_VERSION => '2025-11-25');
my $json = JSON::PP->new->utf8->canonical;
my ($r, $s);


sub rpc {
    my ($method, $params, %more) = @_;
    return $f->get('POST', '', { jsonrpc => '2.0', id => 1,
        method => $method, params => $params // {} }, @mcp, %more);
}

sub tool {
    my ($name, $args, %more) = @_;
    my $o = rpc('tools/call', { name => $name, arguments => $args }, %more);
    return $o->{json}{result} // $o->{json};
}

my %schema = map { $_->{name} => $_ } @{rpc('tools/list')->{json}{result}
                                        {tools}};

# by hand, for what our schemas use

sub fits {
    my ($v, $s) = @_;

    my $is = !defined $v ? 'null' : ref $v eq 'HASH' ? 'object'
        : ref $v eq 'ARRAY' ? 'array' : JSON::PP::is_bool($v) ? 'boolean'
        : $json->encode([$v]) =~ /^\["/ ? 'string' : 'integer';
    my @may = ref $s->{type} ? @{$s->{type}} : $s->{type} // $is;

    return "$is for @may" unless grep { $_ eq $is } @may;

    for my $key ($is eq 'object' ? @{$s->{required} // []} : ()) {
        return "no $key" unless exists $v->{$key};
    }

    for my $key ($is eq 'object' ? keys %$v : ()) {
        my $why = $s->{properties}{$key} ? fits($v->{$key},
            $s->{properties}{$key}) : '';
        return "$key: $why" if $why;
    }

    return '';
}

sub whole {
    my ($name, $r, $tool) = @_;
    my $twin = eval { $json->decode(Encode::encode_utf8($r->{content}[0]
                                                        {text})) };

    is(fits($r->{structuredContent}, $schema{$tool}{outputSchema}), '',
       "$name: it fits the schema");
    is_deeply($twin, $r->{structuredContent}, "$name: the text says the same");
}

require Encode;

# the list

is_deeply([sort keys %schema], [sort split / /, $all], 'all tools are listed');
is($_->{inputSchema}{type}, 'object', "$_->{name} takes an object"),
    is_deeply($_->{inputSchema}{required}, ['code'], 'which has "code"'),
    like($_->{description}, qr/\w/, 'and is described') for values %schema;
is($schema{code_interpreter}{description}, 'Python code sandbox, which can be '
   . 'used to execute Python code.', 'as Qwen-Agent describes its own');
is_deeply([map { $_->{name} } @{rpc('tools/list', {}, RETORT_TOOLS =>
          'bash')->{json}{result}{tools}}], ['bash'], 'or some of them');
is(tool('python', { code => '1' }, RETORT_TOOLS => 'bash')->{error}{code},
   -32602, 'one that is not offered is unknown');

# python and bash

$r = tool('python', { code => 'out("\xe9\n"); err("e"); show(1, "text/plain",
                               "5")' });
$s = $r->{structuredContent};
is_deeply([@$s{qw(status state stdout stderr result error artifacts)}],
          ['ok', 'kept', "\x{fffd}\n", 'e', '5', undef, []], 'a result');
ok(!$r->{isError}, 'is none of an error');
like($s->{expires_at}, qr/^20/, 'and tells for how long');
whole('a result', $r, 'python');

$r = tool('python', { code => 'out("a"); die "oops\n"' });
is_deeply($r->{structuredContent}{error}, { name => 'Fault',
    message => 'oops', traceback => "Traceback\nFault: oops\n" },
    'a traceback is told');
ok($r->{isError}, 'as an error');
whole('a traceback', $r, 'python');

$r = tool('python', { code => 'nap(20)', timeout => 0.2 });
is($r->{structuredContent}{status}, 'timeout', 'so is the end of the time');
whole('a timeout', $r, 'python');

$r = tool('bash', { code => 'done(1, 3); $v{mute} = 1' });
is($r->{structuredContent}{exit_code}, 3, 'a script has an exit code');
ok($r->{isError}, 'that is an error');
whole('an exit code', $r, 'bash');

for ([{}, qr/"code" is missing/], [{ code => '' }, qr/"code" is missing/],
     [{ code => 5 }, qr/"code" must be/], [{ code => '1', x => 1 }, qr/"x"/],
     [{ code => '1', timeout => 31 }, qr/at most 30.000/],
     [{ code => '1', timeout => 0 }, qr/above 0/],
     [{ code => '1', timeout => '1' }, qr/"timeout" must be/],
     [{ code => '1', sandbox_id => 'x' }, qr/no such sandbox/],
     [{ code => '1', sandbox_id => 'sbx_n1_' . 'a' x 32 }, qr/no such sandbox/])
{
    $r = tool('python', $_->[0]);
    ok($r->{isError}, 'a model reads ' . $json->encode($_->[0]));
    like($r->{structuredContent}{error}{message}, $_->[1], 'and why');
    whole('a refusal', $r, 'python');
}

# pictures

my $big = 'show(0, "image/png", "\x89PNG\r\n\x1a\n" . "x" x 4_194_400); ';
my $png = 'show(0, "image/png", "\x89PNG\r\n\x1a\ndata"); ';

$r = tool('python', { code => "$big$png" });
is_deeply([map { $_->{type} } @{$r->{content}}],
          [qw(text resource_link image)], 'pictures follow the text');
is(decode_base64($r->{content}[2]{data}), "\x89PNG\r\n\x1a\ndata",
   'one is there');
is($r->{content}[2]{mimeType}, 'image/png', 'with its type');
like($r->{content}[1]{uri}, qr{^http://h/static/[0-9a-f]{32}\.png$},
     'one that is too big is linked');
is(@{$r->{structuredContent}{artifacts}}, 2, 'programs have links to both');
$r = tool('python', { code => $big }, HTTP_MCP_PROTOCOL_VERSION =>
          '2025-03-26');
is(@{$r->{content}}, 1, 'the oldest clients know no links');

# the others

$r = tool('code_interpreter', { code => "out(\"4\\n\"); $png" });
is($r->{content}[0]{text} =~ s/\(.*\)/(url)/r, "stdout:\n\n```\n4\n\n```\n\n"
   . '![fig-001](url)', 'code_interpreter gives Markdown');
is($r->{content}[1]{type}, 'image', 'and pictures');
ok(!exists $r->{structuredContent}, 'and nothing else');
ok(tool('code_interpreter', { code => 'die' })->{isError}, 'or an error');

# a run of a session ends when it is said so, and not when its client leaves

my @in = (HTTP_MCP_SESSION_ID => rpc('initialize')->{header}
          {'mcp-session-id'});
my $n = 0;

sub start {
    my ($code, $call) = @_;
    my $id = 'exec_n1_' . sprintf '%032x', ++$n;
    my $c = $f->client;
    $c->send_request($f->params('POST', '', @mcp, @in, RETORT_EXECUTION =>
        $id, CONTENT_TYPE => 'application/json'), $json->encode({ jsonrpc =>
        '2.0', id => $call, method => 'tools/call', params =>
        { name => 'python', arguments => { code => $code } } }));
    ok(wait_for(sub { status($id) eq 'running' }), 'a run is under way');
    return ($c, $id);
}

sub status { $f->get('GET', "/executions/$_[0]", '')->{json}{status} // '' }

sub cancel {
    my ($call, @more) = @_;
    return $f->get('POST', '', { jsonrpc => '2.0', method =>
        'notifications/cancelled', params => { requestId => $call } }, @mcp,
        @more)->{status};
}

my ($c, $id) = start('nap(20)', 'a');
is(cancel(@$_), 202, 'a cancellation is accepted') for ['b', @in], ['a'],
    ['a', @in, RETORT_WORKSPACE => 'demo', HTTP_MCP_SESSION_ID =>
     rpc('initialize')->{header}{'mcp-session-id'}];
is(status($id), 'running', 'of another id or session it means nothing');
is(rpc('ping', {}, @in)->{status}, 200, 'a ping is answered meanwhile');
cancel('a', @in);
$r = $c->read_answer;
is("$r->{status} $r->{body}", '202 ', 'the right one: there is no answer');
is(status($id), 'cancelled', 'the run has ended');
($c, $id) = start('nap(0.3); out("done")', 7);
$c->close;
ok(wait_for(sub { status($id) eq 'ok' }), 'a client that leaves ends nothing');

done_front($f);
