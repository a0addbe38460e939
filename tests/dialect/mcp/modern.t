#!/usr/bin/perl

# MCP of 2026-07-28: each message stands alone, and its headers have to say
# what it says; with the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use MIME::Base64 qw(encode_base64);
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 1);
my $M = 'io.modelcontextprotocol';
my $V = '2026-07-28';
my %meta = ("$M/protocolVersion" => $V, "$M/clientCapabilities" => {});
my $r;


sub say_ {
    my ($body, %more) = @_;
    my %all = (RETORT_API => 'mcp', SCRIPT_NAME => '/mcp',
               HTTP_MCP_PROTOCOL_VERSION => $V, %more);

    delete $all{$_} for grep { !defined $all{$_} } keys %all;
    return $f->get('POST', '', $body, %all);
}

sub rpc {
    my ($method, $params, %more) = @_;
    return say_({ jsonrpc => '2.0', id => 'i', method => $method,
                  params => { _meta => \%meta, %{$params // {}} } },
                HTTP_MCP_METHOD => $method, %more);
}

sub tool {
    my ($name, $args, %more) = @_;
    return rpc('tools/call', { name => $name, arguments => $args },
               HTTP_MCP_NAME => $name, %more);
}

sub code { [$_[0]{status}, $_[0]{json}{error}{code}, $_[0]{json}{id}] }

my $info = { "$M/serverInfo" => { name => 'retort', version => 1 } };

is_deeply(rpc('server/discover')->{json}, { jsonrpc => '2.0', id => 'i',
    result => { supportedVersions => [$V], capabilities => { tools => {},
                prompts => {}, resources => {},
                extensions => { "$M/tasks" => {} } },
                ttlMs => 300000, cacheScope => 'private',
                resultType => 'complete', _meta => $info } },
    'discover tells what there is');

$r = rpc('tools/list')->{json}{result};
is_deeply([map { $_->{name} } @{$r->{tools}}], [qw(python bash)], 'two tools');
is_deeply([@$r{qw(resultType ttlMs cacheScope)}],
          ['complete', 300000, 'private'], 'a list tells how long it is good');
is_deeply(rpc('tools/list')->{json}{result}, $r, 'it is the same each time');

# headers: what they are, HTTP, code

my $b64 = '=?base64?' . encode_base64('tools/list', '') . '?=';

for (['no method', HTTP_MCP_METHOD => undef, 400, -32020],
     ['another method', HTTP_MCP_METHOD => 'ping', 400, -32020],
     ['a method in capitals', HTTP_MCP_METHOD => 'Tools/List', 400, -32020],
     ['a longer method', HTTP_MCP_METHOD => 'tools/list2', 400, -32020],
     ['blanks around it', HTTP_MCP_METHOD => "  tools/list\t", 200, undef],
     ['a method in base64', HTTP_MCP_METHOD => $b64, 200, undef],
     ['bad base64', HTTP_MCP_METHOD => '=?base64?%%%?=', 400, -32020],
     ['no base64', HTTP_MCP_METHOD => '=?base64?=', 400, -32020],
     ['no version', HTTP_MCP_PROTOCOL_VERSION => undef, 400, -32020],
     ['another version', HTTP_MCP_PROTOCOL_VERSION => '2025-11-25', 400,
      -32020],
     ['a session', HTTP_MCP_SESSION_ID => 'of another era', 200, undef],
     ['an event', HTTP_LAST_EVENT_ID => '7', 200, undef])
{
    my ($name, $header, $value, $status, $code) = @$_;
    is_deeply(code(rpc('tools/list', {}, $header => $value)),
              [$status, $code, 'i'], $name);
}

my %python = (name => 'python', arguments => { code => 'out(1)' });

for (['no name', undef, 400, -32020], ['another name', 'bash', 400, -32020],
     ['its name', 'python', 200, undef],
     ['its name in base64', '=?base64?cHl0aG9u?=', 200, undef])
{
    is_deeply(code(rpc('tools/call', \%python, HTTP_MCP_NAME => $_->[1])),
              [$_->[2], $_->[3], 'i'], "a call with $_->[0]");
}

is_deeply(code(rpc('resources/read', { uri => 'a' })), [400, -32020, 'i'],
          'a resource is named, too');
is_deeply(code(rpc('resources/read', { uri => 'a' }, HTTP_MCP_NAME => 'a')),
          [200, -32602, 'i'], 'though there is none');

# "_meta", then the version, then the method

sub meta { rpc('tools/list', { _meta => $_[0] }, @_[1 .. $#_]) }

for my $name (sort keys %meta) {
    my %less = map { $_ => $meta{$_} } grep { $_ ne $name } keys %meta;
    is_deeply(code(meta(\%less)), [400, -32602, 'i'], "$name must be there");
    is_deeply(code(meta({ %less, $name => 5 })), [400, -32602, 'i'],
              'and not be a number');
}

$r = say_({ jsonrpc => '2.0', id => 'i', method => 'tools/list' },
          HTTP_MCP_METHOD => 'tools/list');
is_deeply(code($r), [400, -32602, 'i'], '"_meta" must be there');

$r = meta({ %meta, "$M/protocolVersion" => '2099-01-01' },
          HTTP_MCP_PROTOCOL_VERSION => '2099-01-01');
is_deeply(code($r), [400, -32022, 'i'], 'another version is not spoken');
is_deeply($r->{json}{error}{data}, { supported => [$V],
          requested => '2099-01-01' }, 'and told which one is');
is_deeply(code(meta({ "$M/protocolVersion" => '2099-01-01' },
                    HTTP_MCP_PROTOCOL_VERSION => '2099-01-01')),
          [400, -32602, 'i'], '"_meta" comes before the version');
is_deeply(code(meta({ %meta, "$M/protocolVersion" => '2099-01-01' })),
          [400, -32020, 'i'], 'headers come before both');

is_deeply(code(rpc($_)), [404, -32601, 'i'], "there is no $_")
    for qw(initialize ping logging/setLevel resources/subscribe
           completion/complete subscriptions/listen tasks/list nothing);

$r = say_({ jsonrpc => '2.0', method => 'notifications/cancelled',
            params => { requestId => 'i', _meta => \%meta } });
is("$r->{status} $r->{body}", '202 ', 'a notification gets 202');

# what has no session has handles

$r = tool('python', { code => '$v{x} = 5' })->{json}{result};
my $id = $r->{structuredContent}{sandbox_id};
is($r->{resultType}, 'complete', 'a result is whole');
is_deeply($r->{_meta}, $info, 'and tells whose it is');
like($id, qr/^sbx_n1_[0-9a-f]{32}$/, 'a sandbox has a handle');
is(tool('python', { code => 'out($v{x})', sandbox_id => $id })->{json}{result}
   {structuredContent}{stdout}, '5', 'by which it is found again');
isnt(tool('python', { code => '1' })->{json}{result}{structuredContent}
     {sandbox_id}, $id, 'without it there is another one');
is(tool('python', { code => '1', sandbox_id => $id }, RETORT_WORKSPACE => 'eve')
   ->{json}{result}{structuredContent}{error}{name}, 'sandbox_not_found',
   'it is nobody else\'s');

# who closes the connection cancels

my %call = %{$f->params('POST', '', RETORT_API => 'mcp',
    SCRIPT_NAME => '/mcp', CONTENT_TYPE => 'application/json',
    HTTP_MCP_PROTOCOL_VERSION => $V, HTTP_MCP_METHOD => 'tools/call',
    HTTP_MCP_NAME => 'python', RETORT_EXECUTION => 'exec_n1_' . 'c' x 32)};
my $c = $f->client;
$c->send_request(\%call, encode_json({ jsonrpc => '2.0', id => 1,
    method => 'tools/call', params => { _meta => \%meta, name => 'python',
    arguments => { code => 'nap(20)', sandbox_id => $id } } }));

sub status {
    return $f->get('GET', "/executions/$call{RETORT_EXECUTION}", '')->{json}
        {status} // '';
}

ok(wait_for(sub { status() eq 'running' }), 'a run is under way');
$c->close;
ok(wait_for(sub { status() eq 'cancelled' }), 'its client left, it is ended');

# an argument that stands in a header, too

for ([{ region => 'eu' }, 'eu', 200], [{ region => 'eu' }, undef, 400],
     [{ region => 'eu' }, 'us', 400], [{}, undef, 200], [{}, 'eu', 400],
     [{ region => 'Hello' }, '=?base64?SGVsbG8=?=', 200],
     [{ region => 'Hello' }, '=?base64?SGVsbG8?=', 400],
     [{ region => 'Hello' }, '=?base64?SGVs!!!bG8=?=', 400])
{
    my ($args, $header, $status) = @$_;
    is_deeply(code(tool('test_header_param', $args, RETORT_MCP_FIXTURES =>
        'on', HTTP_MCP_PARAM_REGION => $header)),
        [$status, $status == 400 ? -32020 : undef, 'i'],
        ($args->{region} // 'nothing') . ' and ' . ($header // 'no header'));
}

done_front($f);
