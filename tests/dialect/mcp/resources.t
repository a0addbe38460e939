#!/usr/bin/perl

# MCP's prompts and resources: the skill, files of sandboxes, artifacts; lists
# page by page; with the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use MIME::Base64 qw(decode_base64);
use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 1, image => 6_000_000,
                             request => 8_000_000);
my @mcp = (RETORT_API => 'mcp', SCRIPT_NAME => '/mcp',
           CONTENT_TYPE => 'application/json');
my @in = (HTTP_MCP_SESSION_ID => $f->get('POST', '', { jsonrpc => '2.0',
    id => 1, method => 'initialize' }, @mcp)->{header}{'mcp-session-id'});


sub rpc {
    my ($method, $params, @more) = @_;
    return $f->get('POST', '', { jsonrpc => '2.0', id => 1,
        method => $method, params => $params // {} }, @mcp, @more)->{json};
}

sub tool {
    my ($code, @more) = @_;
    return rpc('tools/call', { name => 'python', arguments => {
        code => $code } }, @more)->{result}{structuredContent};
}

sub read_ { my ($uri, @more) = @_;
            return rpc('resources/read', { uri => $uri }, @more) }


# prompts

my $r = rpc('prompts/list')->{result}{prompts};
is_deeply([map { $_->{name} } @$r], ['run_code'], 'the skill is a prompt');
$r = rpc('prompts/get', { name => 'run_code', arguments => {
    task => 'Count the words.' } })->{result}{messages}[0];
is($r->{role}, 'user', 'that a user says');
like($r->{content}{text}, qr/at most twice.*Count the words\.\n$/s,
     'with the task');
like($r->{content}{text}, qr/$_/m, "and with what it should know: $_")
    for '^## When$', '^## Files$', 'use the standard library',
        'Never invent a result', 'sandbox_id', 'CodeSandboxUnreachable';
is(rpc('prompts/get', { name => $_ })->{error}{code}, -32602,
   "there is no prompt \"$_\"") for 'x', 'test_simple_prompt', '';

# resources

$r = rpc('resources/list')->{result}{resources};
is_deeply([map { $_->{uri} } @$r], ['retort://skill'], 'the skill is one');
$r = read_('retort://skill')->{result}{contents};
is($r->[0]{mimeType}, 'text/markdown', 'it is Markdown');
like($r->[0]{text}, qr/^# Running code/, 'and can be read');
$r = rpc('resources/templates/list')->{result}{resourceTemplates};
is_deeply([map { $_->{uriTemplate} } @$r],
          ['retort://sandboxes/{sandbox_id}/files/{+path}',
           'retort://artifacts/{file_id}'], 'others have templates');

is_deeply([map { $_->{uri} } @{ rpc('resources/list', {}, @in)->{result}
          {resources} }], ['retort://skill'],
          'a session without a sandbox has no files');
$r = tool('$files{"a b.txt"} = "\xc3\xa9\n"; $files{"d/x.bin"} = "\0\xff";'
          . '$files{"big"} = "x" x 5_000_000; '
          . 'show(1, "image/png", "\x89PNG\r\n\x1a\n1")', @in);
my $box = "retort://sandboxes/$r->{sandbox_id}/files";
my $png = $r->{artifacts}[0]{file_id};
$r = rpc('resources/list', {}, @in)->{result}{resources};
is_deeply([sort map { $_->{uri} } @$r], [sort 'retort://skill',
          "$box/a%20b.txt", "$box/d/x.bin", "$box/big"],
          'one with a sandbox has its files');
$r = read_("$box/a%20b.txt")->{result}{contents}[0];
is_deeply($r, { uri => "$box/a%20b.txt", mimeType =>
          'text/plain; charset=utf-8', text => "\x{e9}\n" },
          'a text is read as one');
$r = read_("$box/d/x.bin")->{result}{contents}[0];
is(decode_base64($r->{blob} // ''), "\0\xff", 'bytes as base64');
$r = read_("retort://artifacts/$png")->{result}{contents}[0];
is(decode_base64($r->{blob} // ''), "\x89PNG\r\n\x1a\n1", 'so is a picture');
is($r->{mimeType}, 'image/png', 'with its type');
like(read_("$box/big")->{error}{message}, qr/at most 4194304 bytes/,
     'what is too large is not read');

# what is not there, and what is another's

my @other = (RETORT_WORKSPACE => 'other');

for (["$box/none"], ["$box/../x"], ["$box/%2e%2e/x"], ["$box/%zz"], ["$box/"],
     ['retort://sandboxes/x/files/a'], ['retort://sandboxes/'],
     ['retort://artifacts/'], ['retort://artifacts/../../keys'],
     ['test://static-text'], ['file:///etc/passwd'], [''],
     ["$box/a%20b.txt", @other], ["retort://artifacts/$png", @other])
{
    my ($uri, @who) = @$_;
    my $e = read_($uri, @who)->{error};
    is_deeply([$e->{code}, $e->{data}{uri}], [-32002, $uri],
              "\"$uri\" is not there" . (@who ? ' for others' : ''));
}

# fixtures are nowhere unless they are switched on

is(rpc('tools/call', { name => $_, arguments => {} })->{error}{code}, -32602,
   "there is no tool $_")
    for qw(test_simple_text test_sampling slow_compute greet);
is(rpc($_, { level => 'info', uri => 'test://watched-resource' })
   ->{error}{code}, -32601, "nor $_")
    for qw(logging/setLevel resources/subscribe completion/complete);
is(rpc('tools/call', { name => 'test_simple_text', arguments => {} },
       RETORT_MCP_FIXTURES => 'on')->{result}{isError}, JSON::PP::false,
   'a location may have them');

# pictures by their links

$r = rpc('tools/call', { name => 'python', arguments => { code =>
    'show(1, "image/png", "\x89PNG\r\n\x1a\n2")' } },
    HTTP_MCP_PROTOCOL_VERSION => '2025-11-25', RETORT_MCP_PICTURES => 'link')
    ->{result}{content};
is($r->[1]{type}, 'resource_link', 'a location may want links to pictures');
like($r->[1]{uri}, qr{^http://h/static/}, 'which lead to the artifact');

# pages

tool('$files{"n$_"} = "" for 1 .. 230', @in);
my (@all, $cursor, $pages);

do {
    $r = rpc('resources/list', { defined $cursor ? (cursor => $cursor) : () },
             @in)->{result};
    push @all, map { $_->{uri} } @{ $r->{resources} };
    $cursor = $r->{nextCursor};
    $pages++;
} while (defined $cursor && $pages < 10);

my %seen = map { $_ => 1 } @all;
is($pages, 3, 'a long list has pages');
is(scalar(keys %seen), scalar(@all), 'with nothing twice');
is(scalar(@all), 234, 'and nothing left out');
$cursor = rpc('resources/list', {}, @in)->{result}{nextCursor};
is(rpc('tools/list', { cursor => $_ })->{error}{code}, -32602,
   "\"$_\" is no cursor of tools") for $cursor, '', '0', 'x' x 40, '1' x 17;
is(rpc('resources/list', { cursor => $cursor }, @other)->{error}{code}, -32602,
   'nor is it for others');

done_front($f);
