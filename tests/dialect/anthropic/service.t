#!/usr/bin/perl

# Anthropic's tools through the whole service: commands are processes of their
# own, OUTPUT_DIR is emptied, the editor edits.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1);

$s->{location} = join '', map { <<"CONF" } '/anthropic', '/short';
location $_/v1/ {
    retort_api anthropic;
    retort_pass unix:$s->{dir}/run/front.sock;
    retort_auth_key_file $s->{dir}/keys;
    retort_limit_image 1m;
    retort_limit_output 100k;
    ${\ ($_ eq '/short' ? 'retort_limit_turn 1s;' : '')}
}
CONF
$s->configure;
$s->start;

my ($container, $n) = (undef, 0);


sub ask {
    my ($body, $at) = @_;
    my $r = $s->request('POST', ($at // '/anthropic') . '/v1/code_execution',
                        encode_json($body), 'anthropic-version' => '1');
    $r->{json} = decode_json($r->{content});
    $container = $r->{json}{container}{id} // $container;
    return $r->{json};
}

sub tool {
    my ($name, $input) = @_;
    return ask({ container => $container, content => [{
        type => 'server_tool_use', id => 'srvtoolu_' . ++$n, name => $name,
        input => $input }] })->{content}[0]{content};
}

sub bash { tool('bash_code_execution', { command => $_[0] }) }

sub edit { tool('text_editor_code_execution', { @_ }) }

sub content {
    $s->get("/anthropic/v1/files/$_[0]{content}[0]{file_id}/content",
            'anthropic-version' => '1')->{content}
}


# bash

my $r = bash('echo hi; echo oh >&2; exit 3');
is_deeply($r, { type => 'bash_code_execution_result', stdout => "hi\n",
                stderr => "oh\n", return_code => 3, content => [] },
          'a command runs');
is(bash('cd /tmp; x=1; pwd')->{stdout}, "/tmp\n", 'a command has a folder');
is(bash('echo "$PWD $x"')->{stdout}, "/workspace \n",
   'that the next one does not share, nor its variables');
bash('echo kept > kept.txt');
is(bash('cat kept.txt')->{stdout}, "kept\n", 'files it does');
$r = bash('if then');
is($r->{return_code}, 2, 'bash itself may refuse');
like($r->{stderr}, qr/syntax error/, 'in its words');

$r = bash('ls -A "$OUTPUT_DIR"; echo 1,2 > "$OUTPUT_DIR/a b.csv";'
          . ' mkdir "$OUTPUT_DIR/d"; echo x > "$OUTPUT_DIR/d/x"; echo y > y.png');
is(scalar @{$r->{content}}, 1, 'a file at the top of OUTPUT_DIR is given');
is(content($r), "1,2\n", 'as it is');
is(bash('ls -A "$OUTPUT_DIR"')->{stdout}, '', 'each command has a new one');
is_deeply(bash('head -c 2000000 /dev/zero > "$OUTPUT_DIR/big"'),
          { type => 'bash_code_execution_tool_result_error',
            error_code => 'output_file_too_large' }, 'too large a file');
is(bash('head -c 200000 /dev/zero')->{error_code}, 'output_file_too_large',
   'too much of output');

# Python

$r = tool('code_execution', { code => <<'EOC' });
import os
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.savefig(os.environ["OUTPUT_DIR"] + "/p.png")
print(6 * 7)
EOC
is("$r->{type} $r->{stdout}$r->{return_code}", "code_execution_result 42\n0",
   'Python runs');
is(substr(content($r), 1, 3), 'PNG', 'and gives a figure');
like(tool('code_execution', { code => '1/0' })->{stderr},
     qr/ZeroDivisionError: division by zero\n$/, 'or an exception');

# the editor

sub type { "text_editor_code_execution_$_[0]_result" }

my @file = (path => 'src/a.txt');

is_deeply(edit(command => 'create', @file, file_text => "a\nb\nc\n"),
          { type => type('create'), is_file_update => JSON::PP::false },
          'a file is made, and its folder');
ok(edit(command => 'create', @file, file_text => "a\nb\nc\n")
   ->{is_file_update}, 'or written over');
is_deeply(edit(command => 'str_replace', @file, old_str => 'b',
               new_str => 'B'),
          { type => type('str_replace'), lines => ['-b', '+B'], old_start => 2,
            old_lines => 1, new_start => 2, new_lines => 1 },
          'a text is replaced, and the lines are told');
is(bash('cat src/a.txt')->{stdout}, "a\nB\nc\n", 'in the file');
is_deeply(edit(command => 'view', @file),
          { type => type('view'), file_type => 'text', content => "a\nB\nc\n",
            num_lines => 3, start_line => 1, total_lines => 3 },
          'it is shown');
is_deeply([@{edit(command => 'view', @file, view_range => [2, -1])}
           {qw(content num_lines start_line total_lines)}],
          ["B\nc\n", 2, 2, 3], 'or a part of it');
is(edit(command => 'view', path => '/workspace/src')->{content}, "a.txt\n",
   'a folder is a list');
bash('printf "\x89PNG" > i.png; printf "x\xff" > odd; ln -s / l');
$r = edit(command => 'view', path => 'i.png');
is("$r->{file_type} $r->{content}", 'image iVBORw==', 'a picture is base64');
is(edit(command => 'view', path => 'odd')->{content}, "x\x{fffd}",
   'bytes that are no text are marked');
bash('echo changed >> odd');
edit(command => 'str_replace', path => 'odd', old_str => 'changed',
     new_str => 'x');
is(bash('od -An -tx1 odd')->{stdout}, " 78 ff 78 0a\n", 'and not touched');

for ([{ command => 'view', path => 'none' }, 'file_not_found',
      'The file does not exist.'],
     [{ command => 'str_replace', @file, old_str => 'z', new_str => '' },
      'invalid_tool_input', 'The old_str is not in the file.'],
     [{ command => 'str_replace', @file, old_str => "\n", new_str => '' },
      'invalid_tool_input', 'The old_str is in the file more than once.'],
     [{ command => 'view', path => '/dev/null' }, 'invalid_tool_input',
      'It is not a regular file.'],
     [{ command => 'create', path => '/proc/x', file_text => '' },
      'invalid_tool_input', 'No such file or directory'],
     [{ command => 'view', @file, view_range => [9, 10] },
      'invalid_tool_input', 'The view_range is not within the 3 lines.'])
{
    my ($input, $code, $text) = @$_;
    is_deeply(edit(%$input), { type =>
        'text_editor_code_execution_tool_result_error', error_code => $code,
        error_message => $text }, $text);
}

bash('yes "a line" | head -n 30000 > long');
like(edit(command => 'view', path => 'long')->{error_message},
     qr/view_range/, 'what is too long is shown in parts');
is(edit(command => 'view', path => 'long', view_range => [29999, 30000])
   ->{num_lines}, 2, 'if it is asked for');

# the location says how long a turn is

$r = ask({ container => $container, content => [{ type => 'server_tool_use',
    id => 'srvtoolu_slow', name => 'bash_code_execution',
    input => { command => 'until [ -e go ]; do sleep 0.1; done; echo done' } }] },
    '/short');
is($r->{stop_reason}, 'pause_turn', 'a turn ends, its run does not');
$r = ask({ container => $container, content => $r->{content} }, '/short');
is($r->{stop_reason}, 'pause_turn', 'and may take long');

$s->end;
done_testing;
