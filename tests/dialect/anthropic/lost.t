#!/usr/bin/perl

# The front dies under a message that was paused: who sends it again is told
# that the run is lost, the model is told as well, and nothing runs twice.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Retort::Messages;
use Test::More;

my $model = Retort::Messages->new(held => sub {
    return use_('bash_code_execution', { command =>
        'echo x >> ran; sleep 600' }, 'toolu_held') if $_[0] == 0;
    return text('told ' . (results($_[1]) =~ /unavailable/ ? 'unavailable'
                                                           : 'else'));
});
my $s = $model->service('/short/v1/' => 'retort_limit_turn 2s;');


sub ask {
    my ($path, %more) = @_;
    my $r = $s->request('POST', $path, encode_json({ model => 'm', max_tokens =>
        100, tools => [{ type => 'code_execution_20250825', name =>
        'code_execution' }], %more }), 'anthropic-version' => '2023-06-01');
    return eval { decode_json($r->{content}) } // {};
}

sub types { join ' ', map { $_->{type} } @{ $_[0]{content} // [] } }

my $first = { role => 'user', content => 'held' };
my ($r, $ran);

# it is paused, and its run has begun

$s->until_true(sub {
    $r = ask('/short/v1/messages', messages => [$first]);
    return $r->{container};
});
is(types($r) . " $r->{stop_reason}", 'server_tool_use pause_turn',
   'a long run pauses the turn');

sub runs {
    my $c = ask('/anthropic/v1/code_execution', container => $r->{container}{id},
        content => [{ type => 'server_tool_use', id => 'srvtoolu_' . ++$ran,
        name => 'bash_code_execution', input => { command => 'cat ran' } }]);
    return $c->{content}[0]{content}{stdout} // '';
}

my $front = $s->process('retort-front');
kill 'KILL', $front;
ok($s->until_true(sub {
    my $pid = $s->process('retort-front');
    $pid && $pid != $front && $s->get('/health/startup')->{status} == 200;
}), 'the front dies, another comes');

my $again = ask('/anthropic/v1/messages', container => $r->{container}{id},
    messages => [$first, { role => 'assistant', content => $r->{content} }]);
is(types($again), 'bash_code_execution_tool_result text',
   'the same again has a result');
is_deeply($again->{content}[0]{content}, { type =>
    'bash_code_execution_tool_result_error', error_code => 'unavailable' },
    'which is that it is lost');
is($again->{content}[1]{text}, 'told unavailable', 'the model hears the same');
is($again->{container}{id}, $r->{container}{id}, 'the container lives');
is(runs(), "x\n", 'and the command ran once');

$s->end;
done_testing;
