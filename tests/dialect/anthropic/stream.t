#!/usr/bin/perl

# The Messages API as a stream: the client has what the model says while it
# says it, uses and results between, and always an end that it can understand.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use File::Temp qw(tempdir);
use JSON::PP;
use Retort::MessageStream;
use Retort::Messages;
use Retort::Wait qw(patiently);
use Test::More;
use Time::HiRes qw(sleep);

my $dir = tempdir('retort-test-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $big = 'x' x 3_000_000;

sub there { -e "$dir/$_[0]" }

sub make { open my $fh, '>', "$dir/$_[0]" or die "make: $!" }

sub wait_for { return patiently($_[0], 60) }

my @two = stream(text('Let me see.'), use_('bash_code_execution',
                                           { command => 'echo 42' }));
my %bad = (
    cut => sub { print {$_[0]} @two[0 .. 5] },
    index => sub { print {$_[0]} $two[0], @two[5 .. $#two] },
    twice => sub { print {$_[0]} @two[0, 1, 1] },
    late => sub { print {$_[0]} @two[0 .. 1, -2, -1] },
    json => sub { print {$_[0]} $two[0], "data: {\n\n" },
    busy => sub { print {$_[0]} @two[0 .. 1], event('error', error => {
        type => 'overloaded_error', message => 'no' }) },
);

my $model = Retort::Messages->new(
    bash => sub {
        return (text('Let me see.'), use_('bash_code_execution',
            { command => 'echo $((6 * 7))' }), use_('bash_code_execution', {}))
            if $_[0] == 0;
        return text('It says ' . results($_[1]));
    },
    held => sub {
        return [sub {
            print {$_[0]} @two[0 .. 2];
            wait_for(sub { there('go') });
            print {$_[0]} @two[3 .. $#two];
        }] if $_[0] == 0;
        return text('over');
    },
    whole => sub {
        return [200, encode_json({ content => [use_('bash_code_execution',
            { command => 'echo 1' })], stop_reason => 'tool_use' })]
            if $_[0] == 0;
        return text('two ways');
    },
    odd => sub {
        return [sub {
            my $all = join '', event('ping'), event('unheard', a => 1),
                ": nothing\n\n", $two[0],
                event('content_block_start', index => 0, content_block => {
                    type => 'thinking', thinking => '', signature => '' }),
                map({ event('content_block_delta', index => 0, delta => $_) }
                    { type => 'thinking_delta', thinking => 'h' },
                    { type => 'thinking_delta', thinking => 'm' },
                    { type => 'signature_delta', signature => 's' }),
                event('content_block_stop', index => 0),
                event('content_block_start', index => 1, content_block =>
                    use_('bash_code_execution', {}, 'toolu_o')),
                event('content_block_delta', index => 1, delta => {
                    type => 'input_json_delta', partial_json => '{"comm' }),
                event('content_block_stop', index => 1), @two[-2, -1];
            $all =~ s/\n/\r\n/g;
            syswrite($_[0], $_) for unpack '(a7)*', $all;
        }] if $_[0] == 0;
        return text(join ' ', map { $_->{content} } grep { $_->{type} eq
            'tool_result' } @{$_[1]{messages}[-1]{content}}) if $_[0] == 1;
        return text('and so on');
    },
    slow => sub {
        return use_('bash_code_execution', { command =>
            'sleep 4; echo end' }) if $_[0] == 0;
        return text('over');
    },
    silent => sub {
        return use_('bash_code_execution', { command => 'sleep 600' })
            if $_[0] == 0;
        return text('over');
    },
    big => sub { text($big) },
    gone => sub {
        [sub {
            print {$_[0]} @two[0, 1];
            for my $end (time + 60) {
                sleep 0.02 while time < $end && print {$_[0]} event('ping');
            }
            make('gone') if $!{EPIPE} || $!{ECONNRESET};
        }]
    },
    refuse => sub { [429, '{}'] },
    sorry => sub { [sub { print {$_[0]} event('error', error => { type =>
        'rate_limit_error', message => 'slowly' }) }] },
    map { my $how = $bad{$_}; ($_ => sub { [$how] }) } keys %bad,
);

my $s = $model->service('/short/v1/' => 'retort_limit_turn 2s;');


sub ask { stream_ask($s, @_) }

sub told { my (undef, undef, @e) = ask(@_); return stream_message(@e) }

sub types { join ' ', map { $_->{type} } @{$_[0]{content}} }


# the same as without a stream

my ($r, $rest, @e) = ask('bash');
my $m = stream_message(@e);
is($r->{headers}{'content-type'}, 'text/event-stream', 'a stream is one');
like($r->{headers}{'request-id'}, qr/^req_/, 'with an id');
is($rest, '', 'and whole');
is(types($m), 'text server_tool_use server_tool_use '
   . 'bash_code_execution_tool_result bash_code_execution_tool_result text',
   'a message has uses, their results, and what the model makes of them');
is($e[-1]{type}, 'message_stop', 'to its end');
is(scalar(grep { $_->{type} eq 'message_delta' } @e), 1,
   'which is that of the last round');
my ($text, $use, $none, $result, $wrong, $last) = @{$m->{content}};
is($text->{said}, 'Let me see.', 'texts are the model\'s');
like($use->{id}, qr/^srvtoolu_\w+$/, 'a use is the server\'s');
is($use->{said}, '{"command":"echo $((6 * 7))"}', 'with its input');
is_deeply($use->{caller}, { type => 'direct' }, 'called by the model');
is_deeply([$result->{tool_use_id}, $result->{content}{stdout}],
          [$use->{id}, "42\n"], 'its result is real');
is($wrong->{content}{error_code}, 'invalid_tool_input',
   'a wrong input is told in its result');
like($last->{said}, qr/^It says \{.*42.*invalid_tool_input/,
     'the model was told of both');
is_deeply([@{$m}{qw(model stop_reason)}, $m->{container}{id} =~ /^([a-z]+_)/],
          ['streamed', 'end_turn', 'container_'], 'whose it is, and where');
is_deeply($m->{usage}, { input_tokens => 20, output_tokens => 6,
          server_tool_use => { code_execution_requests => 2 } },
          'all rounds are counted');

# as it comes

($r, $rest, @e) = ask('held', see => sub {
    make('go') if ($_[0]{delta}{text} // '') eq 'Let m' });
ok(there('go'), 'a text is there while the model says it');
is(types(stream_message(@e)), join(' ', qw(text server_tool_use
   bash_code_execution_tool_result text)), 'and the rest, when it is said');

($r, $rest, @e) = ask('whole');
is(types(stream_message(@e)), join(' ', qw(server_tool_use
   bash_code_execution_tool_result text)),
   'a model that answers at once is as good');
$m = told('odd');
is(types($m), 'thinking server_tool_use bash_code_execution_tool_result text',
   'a stream may come in any pieces, with what nobody knows');
is($m->{content}[0]{said}, 'hm', 'a thought is told');
like($m->{content}[-1]{said}, qr/invalid_tool_input/,
     'an input that was cut is none');
my ($q) = grep { $_->{said}{messages}[0]{content}[0]{text} eq 'odd'
                 && @{$_->{said}{messages}} == 3 } $model->asked;
is_deeply($q->{said}{messages}[1]{content}[0], { type => 'thinking',
          thinking => 'hm', signature => 's' }, 'and is the model\'s again');

# pauses

my $first = { role => 'user', content => 'slow' };
$m = told([$first], at => '/short');
is(types($m) . " $m->{stop_reason}", 'server_tool_use pause_turn',
   'a long run pauses the turn');
$m->{content}[0]{input} = decode_json(delete $m->{content}[0]{said});
$m = told([$first, { role => 'assistant', content => $m->{content} }],
          container => $m->{container}{id});
is(types($m), 'bash_code_execution_tool_result text',
   'the same again gets the result, and goes on');
is($m->{content}[0]{content}{stdout}, "end\n", 'of the run');

my $pinged = 0;
ask('silent', see => sub {
    return if $_[0]{type} ne 'ping';
    $pinged = 1;
    $s->request('POST', "/v1/sandboxes/$_/interrupt")
        for map { $_->{sandbox_id} } @{($s->json('GET', '/v1/sandboxes'))[1]
                                       {sandboxes}};
});
ok($pinged, 'a long run has signs of life');

# clients

my $slowly = 1;
($r, $rest, @e) = ask('big', see => sub { sleep 2 if $slowly; $slowly = 0 });
is(length(stream_message(@e)->{content}[0]{said}), 3_000_000,
   'a client that reads slowly gets all of it');
eval { ask('gone', see => sub { die "enough\n" }) };
ok(wait_for(sub { there('gone') }),
   'a client that leaves ends the model\'s answer');

# what the model's side does wrong

for (['refuse', 429, 'the model refused'], ['sorry', 429, 'slowly']) {
    my ($how, $status, $why) = @$_;
    ($r, $rest) = ask($how);
    is($r->{status}, $status, "$how: an error while there is no answer");
    is(decode_json($rest)->{error}{message}, $why, 'as ever');
}

for my $how (sort keys %bad) {
    ($r, $rest, @e) = ask($how);
    is_deeply([$r->{status}, $e[0]{type}, $e[-1]{type}, $rest],
              [200, 'message_start', 'error', ''], "$how: an error ends it");
    is($e[-1]{error}{type}, $how eq 'busy' ? 'overloaded_error' : 'api_error',
       'of the vendor\'s');
}

$s->end;
done_testing;
