#!/usr/bin/perl

# The Messages API before a model with a script: what it asks to be run is run,
# what a client gets is what the vendor would give.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Retort::Messages;
use Test::More;

my $slow = 'echo begun >> begun; sleep 4; cat begun; echo end';
my %bad = (400 => [400, '{"error":{"type":"x","message":"too many words"}}'],
    401 => [401, '{}'], 429 => [429, '{}'], 500 => [500, 'oh'], 529 => [529, ''],
    text => [200, 'hello'], none => [200, '{"content":5}']);

my $model = Retort::Messages->new(
    plain => sub { text('hello') },
    bash => sub {
        return (text('Let me see.'), use_('bash_code_execution',
            { command => 'echo $((6 * 7))' })) if $_[0] == 0;
        return text('It says ' . decode_json(results($_[1]))->{stdout});
    },
    two => sub {
        return (use_('text_editor_code_execution', { command => 'create',
            path => 'a', file_text => "x\n" }), use_('bash_code_execution',
            { command => 'cat a in.csv' })) if $_[0] == 0;
        return use_('bash_code_execution', { command => 5 }) if $_[0] == 1;
        return text($_[0] > 2 ? 'fine'
                    : decode_json(results($_[1]))->{error_code});
    },
    mixed => sub {
        return (use_('bash_code_execution', { command => 'echo ours' }),
            use_('weather', { city => 'Oslo' }, 'toolu_w')) if $_[0] == 0;
        return text(join '|', map { $_->{content} =~ /ours|rain/g }
                    grep { $_->{type} eq 'tool_result' }
                    @{$_[1]{messages}[-1]{content}});
    },
    slow => sub {
        return use_('bash_code_execution', { command => $slow }) if $_[0] == 0;
        return text('over');
    },
    held => sub {
        return use_('bash_code_execution', { command => 'sleep 600' })
            if $_[0] == 0;
        return text('over');
    },
    endless => sub { use_('bash_code_execution', { command => ':' }) },
    map { my $how = $bad{$_}; ($_ => sub { $how }) } keys %bad,
);

my $s = $model->service('/short/v1/' => 'retort_limit_turn 2s;');

my @tools = ({ type => 'code_execution_20250825', name => 'code_execution' });


sub ask_at {
    my ($at, $messages, %more) = @_;
    my $r = $s->request('POST', "$at/v1/messages", encode_json({
        model => 'm', max_tokens => 100, tools => \@tools,
        messages => $messages, %more }), 'anthropic-version' => '2026-10-21');
    $r->{json} = eval { decode_json($r->{content}) };
    return $r;
}

sub ask { ask_at('/anthropic', @_) }

sub user { { role => 'user', content => $_[0] } }

sub said { { role => 'assistant', content => $_[0]{json}{content} } }

sub types { join ' ', map { $_->{type} } @{$_[0]{json}{content}} }


# nothing to run: it is passed on

my $r = ask([user('plain')], system => 'be kind', stream => JSON::PP::false);
is_deeply($r->{json}{content}, [{ type => 'text', text => 'hello' }],
          'an answer of the model is given');
is_deeply([@{$r->{json}}{qw(type role model stop_reason container)}],
          ['message', 'assistant', 'm', 'end_turn', undef], 'as a message');
my ($q) = $model->asked;
is($q->{version}, '2026-10-21', 'the version is the client\'s');
is_deeply([sort keys %{$q->{said}}],
          [qw(max_tokens messages model system tools)],
          'what is for us alone is not passed on');
is_deeply([map { $_->{name} } @{$q->{said}{tools}}],
          ['bash_code_execution', 'text_editor_code_execution'],
          'code execution is two tools of the model\'s');

# a run

$r = ask([user('bash')]);
is(types($r), 'text server_tool_use bash_code_execution_tool_result text',
   'a use is followed by its result and what the model makes of it');
my ($use, $result, $last) = @{$r->{json}{content}}[1 .. 3];
like($use->{id}, qr/^srvtoolu_\w+$/, 'it is the server\'s');
is_deeply($use->{caller}, { type => 'direct' }, 'called by the model');
is($result->{tool_use_id}, $use->{id}, 'the result is of it');
is($result->{content}{stdout}, "42\n", 'and real');
is($last->{text}, "It says 42\n", 'the model was told');
like($r->{json}{container}{id}, qr/^container_/, 'there is a container');
is_deeply($r->{json}{usage}, { input_tokens => 20, output_tokens => 6,
          server_tool_use => { code_execution_requests => 1 } },
          'all rounds are counted');

# files, several uses, a wrong input; the history of a dialogue

my $file = $s->request('POST', '/anthropic/v1/files', join("\r\n", '--B',
    'Content-Disposition: form-data; name="file"; filename="in.csv"', '',
    "1,2\n", '--B--', ''), 'anthropic-version' => '1',
    'content-type' => 'multipart/form-data; boundary=B');
$file = decode_json($file->{content})->{id};
my $first = user([text('two'), { type => 'container_upload',
                                 file_id => $file }]);
$r = ask([$first]);
is(types($r), 'server_tool_use server_tool_use '
   . 'text_editor_code_execution_tool_result bash_code_execution_tool_result '
   . 'server_tool_use bash_code_execution_tool_result text',
   'uses come together, results behind them');
is_deeply($r->{json}{content}[3]{content}, { stdout => "x\n1,2\n",
          stderr => '', return_code => 0, content => [],
          type => 'bash_code_execution_result' },
          'in one container, with the file');
is($r->{json}{content}[-1]{text}, 'invalid_tool_input',
   'the model hears of its mistake');
$model->asked;
my $again = ask([$first, said($r), user('and?')],
                container => $r->{json}{container}{id});
($q) = $model->asked;
is_deeply([map { "$_->{role}:" . join ',', map { $_->{type} }
           @{$_->{content}} } @{$q->{said}{messages}}],
          ['user:text,text', 'assistant:tool_use,tool_use',
           'user:tool_result,tool_result', 'assistant:tool_use',
           'user:tool_result', 'assistant:text', 'user:text'],
          'a client\'s history is the model\'s');
is($again->{json}{container}, undef, 'nothing runs again');

# a tool of the client's beside ours

$first = user('mixed');
$r = ask([$first]);
is(types($r) . " $r->{json}{stop_reason}",
   'server_tool_use tool_use tool_use', 'the client\'s tool comes first');
$r = ask([$first, said($r), user([{ type => 'tool_result',
          tool_use_id => 'toolu_w', content => 'rain' }])]);
is(types($r), 'bash_code_execution_tool_result text',
   'then ours, whose result begins the next answer');
is($r->{json}{content}[1]{text}, 'ours|rain', 'the model has both');

# pauses

$first = user('slow');
$r = ask_at('/short', [$first]);
is(types($r) . " $r->{json}{stop_reason}", 'server_tool_use pause_turn',
   'a long run pauses the turn');
my @go = (container => $r->{json}{container}{id});
$r = ask([$first, said($r)], @go);
is(types($r), 'bash_code_execution_tool_result text',
   'the same again gets the result, and goes on');
is($r->{json}{content}[0]{content}{stdout}, "begun\nend\n",
   'of a run that ran once');

$first = user('held');
my $end = time + 30;
do { $r = ask_at('/short', [$first]) }
    until $r->{json}{container} || time > $end;
(my $box = $r->{json}{container}{id}) =~ s/^container/sbx/;
$s->request('POST', "/v1/sandboxes/$box/interrupt");
$r = ask([$first, said($r)], container => $r->{json}{container}{id});
is($r->{json}{content}[0]{content}{error_code}, 'unavailable',
   'of one that was ended as well, though its container is gone');

$r = ask([user('endless')]);
is($r->{json}{stop_reason}, 'pause_turn', 'a model that never ends is paused');
is($r->{json}{usage}{server_tool_use}{code_execution_requests}, 31,
   'after 32 rounds, before it runs what was asked last');

# what the model's side does wrong

for ([400, 400, 'invalid_request_error', 'too many words'],
     [401, 500, 'api_error', 'the model\'s endpoint answered 401'],
     [429, 429, 'rate_limit_error', 'the model refused'],
     [500, 500, 'api_error', 'the model\'s endpoint answered 500'],
     [529, 529, 'overloaded_error', 'the model is overloaded'],
     ['text', 500, 'api_error',
      'the model\'s endpoint gave an answer that is no message'],
     ['none', 500, 'api_error',
      'the model\'s endpoint gave an answer that is no message'])
{
    my ($how, $status, $type, $text) = @$_;
    $r = ask([user("$how")]);
    is_deeply([$r->{status}, @{$r->{json}{error}}{qw(type message)}],
              [$status, $type, $text], "a model that answers $how");
}

$s->end;
done_testing;
