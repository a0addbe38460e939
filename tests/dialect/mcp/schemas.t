#!/usr/bin/perl

# All tools of MCP in one location: how they are described, and that whatever
# comes of a call fits the schema that the tool has for it; with the front
# alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front);
use Retort::OpenApi;

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 0);
my $json = JSON::PP->new->utf8->canonical;
my $schemas = Retort::OpenApi->new({ paths => {} });
my $python = 'runPythonCodeInRemoteEnvironment';
my $shell = 'runShellCommandInRemoteEnvironment';

# a call that runs (code of the fake kernel), one that fails, one that is wrong

my %tools = (
    python => [{ code => 'out(1); show(1, "text/plain", "5"); '
        . '$v{editor} = sub { die "no" }' },
               { code => 'die "no"' }, { code => 5 }],
    bash => [{ code => 'out(1)' }, { code => 'die "no"' },
             { sandbox_id => 'x', code => '1' }],
    execute_python => [{ code => 'out(1)' }, { code => 'err("a"); die "no"' },
                       { code => '1', files => ['x'] }],
    code_interpreter => [{ code => 'out(1)' }, { code => 'die "no"' }, {}],
    code_execution => [{ code => 'out(1)' }, { code => 'die "no"' }, {}],
    bash_code_execution => [{ command => 'saved("a", "b")' },
        { command => 'die "no"' }, { command => '' }],
    text_editor_code_execution => [undef, { command => 'view', path => 'a' },
        { command => 'fly', path => 'a' }],
    launchShell => [{}, undef, { x => 1 }],
    $python => [{ environmentId => 'env-1', pythonCode => 'out(1)' },
        { environmentId => 'env-1', pythonCode => 'die "no"' },
        { environmentId => 'a/b', pythonCode => '1' }],
    $shell => [{ environmentId => 'env-1', shellCommand => 'out(1)' },
        { environmentId => 'env-1', shellCommand => 'die "no"' },
        { environmentId => 'env-1' }],
    write_file => [{ path => 'a', text => 'b' }, undef, { path => '../a' }],
    read_file => [{ path => 'a' }, { path => 'none' }, {}],
    list_files => [{}, undef, { recursive => 'x' }],
);
my @mcp = (RETORT_API => 'mcp', SCRIPT_NAME => '/mcp',
           RETORT_TOOLS => join(' ', sort keys %tools));
my @in = (HTTP_MCP_SESSION_ID => $f->get('POST', '', { jsonrpc => '2.0',
    id => 1, method => 'initialize' }, @mcp)->{header}{'mcp-session-id'});
my $n = 0;


sub rpc {
    my ($method, $params, @more) = @_;
    return $f->get('POST', '', { jsonrpc => '2.0', id => ++$n,
        method => $method, params => $params // {} }, @mcp, @more)->{json};
}

my @list = @{ rpc('tools/list')->{result}{tools} };
my %tool = map { $_->{name} => $_ } @list;


# descriptions

is_deeply([sort keys %tool], [sort keys %tools], 'a location may have them all');
is_deeply([map { $_->{name} } @{ rpc('tools/list')->{result}{tools} }],
          [map { $_->{name} } @list], 'in the same order each time');
is_deeply([map { $_->{name} } @{ rpc('tools/list', {}, RETORT_TOOLS =>
          join(' ', reverse sort keys %tools))->{result}{tools} }],
          [map { $_->{name} } @list], 'however the location says it');

my %careful = map { $_ => 1 } qw(read_file list_files);

for my $t (@list) {
    my $name = $t->{name};
    my $hints = $t->{annotations};

    like($name, qr/^[A-Za-z0-9_.-]{1,128}$/, "$name is a name");
    like($t->{$_}, qr/\w/, "with a $_") for qw(title description);
    is($t->{inputSchema}{type}, 'object', 'that takes an object');
    is_deeply([grep { !$t->{inputSchema}{properties}{$_} }
               @{ $t->{inputSchema}{required} // [] }], [],
              'in which nothing is required that there is not');
    is($t->{outputSchema} && $t->{outputSchema}{type},
       $name eq 'code_interpreter' ? undef : 'object', 'and gives one');
    is_deeply([sort keys %$hints], [qw(destructiveHint idempotentHint
              openWorldHint readOnlyHint)], 'hints say all of it');
    is(!!$hints->{destructiveHint}, !$careful{$name},
       "$name may destroy: a client asks first, or need not");
    is(!!$hints->{openWorldHint}, !$careful{$name} && $name ne 'write_file',
       'and whether it may do anything');
    is(!!$hints->{readOnlyHint}, $name =~ /^(?:read|list)_/,
       'and whether it only looks');
}


# what comes of calls

sub faults {
    my ($name, $r) = @_;
    my $schema = $tool{$name}{outputSchema};
    my @all = ref $r->{content} eq 'ARRAY' ? () : 'no content';

    return @all, exists $r->{structuredContent} ? 'a structure' : ()
        if !$schema;

    my $twin = eval { JSON::PP->new->decode($r->{content}[0]{text}) };

    push @all, 'the text is another' if $json->encode([$twin])
        ne $json->encode([$r->{structuredContent}]);
    return @all, $schemas->faults($schema, $r->{structuredContent}, $name);
}

sub comes {
    my ($name, $what, $args, $failed, @more) = @_;
    my $r = rpc('tools/call', { name => $name, arguments => $args }, @more)
        ->{result};

    is_deeply([faults($name, $r)], [], "$name, $what: it fits the schema");
    is(!!$r->{isError}, !!$failed, 'it is an error, or none');
}

# Azure's tell failures of code, and no others, in results that are none

for my $name ('write_file', sort grep { $_ ne 'write_file' } keys %tools) {
    my ($good, $bad, $wrong) = @{ $tools{$name} };
    my $azure = $name =~ /RemoteEnvironment|launch/;

    comes($name, 'a call', $good, 0, @in) if $good;
    comes($name, 'a failure', $bad, !$azure, @in) if $bad;

    if ($azure) {
        is(rpc('tools/call', { name => $name, arguments => $wrong }, @in)
           ->{error}{code}, -32602, "$name: what is wrong is Azure's error");
        next;
    }

    comes($name, 'what is wrong', $wrong, 1, @in);
    comes($name, 'an argument that there is not', { none => 1 }, 1, @in);
}

for my $how (3, 5) {
    $f->{broker}->tell("spawn $how");
    comes($_, "no sandbox ($how)", $tools{$_}[0] // $tools{$_}[1], 1)
        for sort grep { !/RemoteEnvironment|launch|^(?:read|list)_/ }
            keys %tools;
    $f->{broker}->tell('spawn 0');
}

done_front($f);
