#!/usr/bin/perl

# Every error code that the vendor has for a tool comes from that tool, and no
# other does; what a tenant says in the editor's place is put into its forms.
# With the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(timeout => 60_000, timeout_max => 60_000,
                             output => 2000, artifacts => 3);
my @api = (RETORT_API => 'anthropic', SCRIPT_NAME => '/anthropic/v1',
           HTTP_ANTHROPIC_VERSION => '1');
my $json = JSON::PP->new->canonical->allow_nonref;
my ($n, $container, $limit) = (0, undef, 60_000);


sub ask {
    my ($name, $input, %more) = @_;
    my $r = $f->get('POST', '/code_execution', { %more, content => [{
        type => 'server_tool_use', id => 'srvtoolu_' . ++$n, name => $name,
        input => $input }] }, @api, RETORT_LIMIT_TIMEOUT => $limit);

    is($r->{status}, 200, "$name: HTTP stays 200");
    $container = $r->{json}{container}{id} // $container;
    return $r->{json}{content}[0]{content};
}

sub bash { ask('bash_code_execution', { command => $_[0] }, @_[1 .. $#_]) }

# what sleeps is not waited for

sub short { $limit = 300; my $r = ask(@_); $limit = 60_000; return $r }

# the editor of a sandbox, as a tenant may have put it there

sub edit {
    my ($editor, $do) = @_;
    bash("\$v{editor} = sub { $editor }");
    return ($do // \&ask)->('text_editor_code_execution',
        { command => 'view', path => 'a' }, container => $container);
}


# the vendor's codes, and how to get one

sub refused {
    my ($how, $name, $input) = @_;
    $f->{broker}->tell("spawn $how");
    my $r = ask($name, $input);
    $f->{broker}->tell('spawn 0');
    return $r;
}

my %good = (bash_code_execution => { command => '1' },
            code_execution => { code => '1' },
            text_editor_code_execution => { command => 'view', path => 'a' });
my %slow = (
    bash_code_execution => sub { short($_[0], { command => 'nap(600)' }) },
    code_execution => sub { short($_[0], { code => 'nap(600)' }) },
    text_editor_code_execution => sub { edit('nap(600)', \&short) });
my %codes = (
    invalid_tool_input => sub { ask($_[0], {}) },
    too_many_requests => sub { refused(3, $_[0], $good{$_[0]}) },
    unavailable => sub { refused(5, $_[0], $good{$_[0]}) },
    execution_time_exceeded => sub { $slow{$_[0]}->($_[0]) },
);
my %more = (
    bash_code_execution => { output_file_too_large => sub {
        bash('out("x" x 3000)') } },
    text_editor_code_execution => { file_not_found => sub {
        edit(q(out('{"type":"error","code":"file_not_found"}'))) } },
);

for my $tool (sort keys %good) {
    my %all = (%codes, %{ $more{$tool} // {} });

    for my $code (sort keys %all) {
        my $r = $all{$code}->($tool);

        is_deeply([@$r{qw(type error_code)}],
                  ["${tool}_tool_result_error", $code], "$tool: $code");
        is_deeply([sort keys %$r], [qw(error_code), $tool =~ /^text/
            ? 'error_message' : (), 'type'], 'with the keys that it has');
    }
}

# what is too much for Python's tool, which has no code for it

my $r = ask('code_execution', { code => 'out("x" x 3000)' });
is("$r->{type} $r->{return_code}", 'code_execution_result 0',
   'too much of Python\'s output is a result');
like($r->{stdout}, qr/^x+\n\[output truncated: 2000 of 3000 bytes\]\n$/,
     'that says how much there was');
$r = ask('code_execution', { code => 'change(4, "big", 1e9)' });
like($r->{stderr}, qr/^1 more not kept: too large, or too many\n$/,
     'or which files there are not');

# what a tenant may say in the place of the editor: a result, as far as it is
# one, or an error, and nothing that the vendor does not have

my $error = 'text_editor_code_execution_tool_result_error';
my $view = 'text_editor_code_execution_view_result';
my %view = (type => $view, file_type => 'text', content => '',
            num_lines => undef, start_line => undef, total_lines => undef);

sub says {
    my ($text) = @_;
    my $r = edit("out('$text')");
    delete $r->{error_message};
    return $r;
}

for (['', 'unavailable'], ['x', 'unavailable'], ['[]', 'unavailable'],
     ['{"type":"view"', 'unavailable'], ['{}', 'invalid_tool_input'],
     ['{"type":5}', 'invalid_tool_input'],
     ['{"type":"error","code":"root"}', 'invalid_tool_input'],
     ['{"type":"error","code":5,"message":[]}', 'invalid_tool_input'])
{
    is_deeply(says($_->[0]), { type => $error, error_code => $_->[1] },
              "an editor that says $_->[0]: $_->[1]");
}

is_deeply(says('{"type":"view","content":5,"num_lines":"9","file_type":"exe",'
               . '"more":1}'), \%view, 'a view has nothing but its own');
is_deeply(says('{"type":"view","content":"a","file_type":"pdf","num_lines":1}'),
          { %view, content => 'a', file_type => 'pdf', num_lines => 1 },
          'and that as it is');
is_deeply(says('{"type":"str_replace","lines":["-a",5,{}],"old_start":{}}')
          ->{lines}, ['-a'], 'lines are texts');
is(edit(q(out('{"type":"create"}'); die "x"))->{error_code}, 'unavailable',
   'one that fails is no editor');

done_front($f);
