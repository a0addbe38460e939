#!/usr/bin/perl

# MCP's tools about files, with the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use Encode ();
use JSON::PP;
use MIME::Base64 qw(decode_base64 encode_base64);
use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 1, image => 6_000_000,
                             request => 8_000_000);
my $json = JSON::PP->new->utf8->canonical;
my @mcp = (RETORT_API => 'mcp', SCRIPT_NAME => '/mcp',
           RETORT_TOOLS => 'python write_file read_file list_files',
           CONTENT_TYPE => 'application/json');
my @in = (HTTP_MCP_SESSION_ID => $f->get('POST', '', { jsonrpc => '2.0',
    id => 1, method => 'initialize' }, @mcp)->{header}{'mcp-session-id'});


sub tool {
    my ($name, $args, @more) = @_;
    my $r = $f->get('POST', '', { jsonrpc => '2.0', id => 1, method =>
        'tools/call', params => { name => $name, arguments => $args } },
        @mcp, @more)->{json}{result};

    is_deeply($json->decode(Encode::encode('UTF-8', $r->{content}[0]{text})),
              $r->{structuredContent},
              "$name: the text is the same") if $r->{structuredContent};
    return ($r->{structuredContent}, $r->{isError});
}

sub fails {
    my ($error, $name, $args, @more) = @_;
    my ($r, $failed) = tool($name, $args, @more);

    ok($failed, "$name " . $json->encode($args) . ' fails');
    is($r->{error}{name}, $error, "with $error");
    is($r->{sandbox_id}, undef, 'and names no sandbox');
    return $r;
}


# a session's

is_deeply([tool('list_files', {}, @in)]->[0]{files}, [],
          'a session without a sandbox has no files');
fails('sandbox_not_found', 'read_file', { path => 'a' }, @in);

my ($r, $failed) = tool('write_file', { path => 'd/a.txt', text => "\x{e9}\n" },
                        @in);
ok(!$failed, 'a text is written');
like($r->{sandbox_id}, qr/^sbx_/, 'into a sandbox');
my $box = $r->{sandbox_id};
is([tool('python', { code => 'out($files{"d/a.txt"})' }, @in)]
   ->[0]{stdout}, "\x{e9}\n", 'in which code finds it');
($r) = tool('read_file', { path => '/workspace/d/a.txt' }, @in);
is_deeply([@$r{qw(sandbox_id path size text mime error)}], [$box, 'd/a.txt', 3,
          "\x{e9}\n", 'text/plain; charset=utf-8', undef], 'it can be read');
ok(!exists $r->{base64}, 'as a text alone');

tool('write_file', { path => 'b.bin', base64 => encode_base64("\0\xff", '') },
     @in);
($r) = tool('read_file', { path => 'b.bin' }, @in);
is(decode_base64($r->{base64} // ''), "\0\xff", 'bytes go both ways');
tool('write_file', { path => 'b.bin', text => '' }, @in);
($r) = tool('read_file', { path => 'b.bin' }, @in);
is_deeply([@$r{qw(size text)}], [0, ''], 'a file is replaced, by nothing too');

($r) = tool('list_files', { recursive => JSON::PP::true }, @in);
is_deeply([sort map { $_->{path} } grep { !$_->{folder} } @{ $r->{files} }],
          ['b.bin', 'd/a.txt'], 'all are listed');

# by the sandbox's id, from elsewhere

($r) = tool('read_file', { path => 'd/a.txt', sandbox_id => $box });
is($r->{size}, 3, 'who names the sandbox needs no session');
($r) = tool('write_file', { path => 'x', text => '1' });
isnt($r->{sandbox_id}, $box, 'without both a new one is made');
is([tool('read_file', { path => 'x', sandbox_id => $r->{sandbox_id} })]
   ->[0]{text}, '1', 'and kept');
fails('sandbox_not_found', 'read_file', { path => 'x', sandbox_id => $box },
      RETORT_WORKSPACE => 'other');

# what is wrong

fails('bad_value', 'list_files', {});
fails('bad_value', 'read_file', { path => 'x' });
fails('bad_value', 'read_file', {}, @in);
fails('bad_value', 'write_file', { path => 'x' }, @in);
fails('bad_value', 'write_file', { text => 'x' }, @in);
fails('bad_value', 'write_file', { path => 'x', text => '', base64 => '' },
      @in);
fails('bad_value', 'write_file', { path => 'x', base64 => '?' }, @in);
fails('bad_name', $_, { path => '../x', $_ eq 'write_file' ? (text => 'x')
      : () }, @in) for qw(read_file list_files write_file);
fails('bad_name', 'read_file', { path => '/etc/passwd' }, @in);
fails('file_not_found', 'read_file', { path => 'none' }, @in);
fails('unknown_key', 'read_file', { path => 'x', mode => 1 }, @in);
tool('python', { code => '$files{"big"} = "x" x 5_000_000' }, @in);
fails('too_large', 'read_file', { path => 'big' }, @in);
is([tool('python', { code => 'out("here")' }, @in)]->[0]{stdout}, 'here',
   'the sandbox is as it was');

done_front($f);
