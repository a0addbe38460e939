#!/usr/bin/perl

# A turn that takes too long is answered as paused and goes on; who sends the
# same blocks again gets what became of them, and nothing runs twice.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(timeout => 120_000, timeout_max => 120_000,
                             threads => 24);
my @api = (RETORT_API => 'anthropic', SCRIPT_NAME => '/anthropic/v1',
           HTTP_ANTHROPIC_VERSION => '1', CONTENT_TYPE => 'application/json');
my $r;


sub ask {
    my ($body, %more) = @_;
    return $f->get('POST', '/code_execution', $body, @api,
                   RETORT_LIMIT_TURN => 60_000, %more);
}

# what is held is paused, whenever that is

my @short = (RETORT_LIMIT_TURN => 200);

sub bash {
    my ($id, $code) = @_;
    return { type => 'server_tool_use', id => "srvtoolu_$id",
             name => 'bash_code_execution', input => { command => $code } };
}

# a command that says what it is and ends when it may; how often it ran

sub held { "open my \$l, '>>', '$f->{dir}/$_[0].ran'; print \$l 'x'; close \$l;"
           . " nap(0.02) until -e '$f->{dir}/$_[0]'; out('$_[0]')" }

sub let { open my $fh, '>', "$f->{dir}/$_[0]" or die }

sub ran { -s "$f->{dir}/$_[0].ran" // 0 }

sub shape {
    my ($got) = @_;
    return [$got->{json}{stop_reason}, map { $_->{type} eq 'server_tool_use'
        ? $_->{id} : "$_->{tool_use_id}=" . ($_->{content}{stdout}
        // $_->{content}{error_code}) } @{$got->{json}{content}}];
}

sub again {
    my ($got, %more) = @_;
    return ask({ container => $got->{json}{container}{id},
                 content => $got->{json}{content} }, %more);
}


# one block

my $one = bash(1, held('one'));
my $paused = ask({ content => [$one] }, @short);
is_deeply(shape($paused), ['pause_turn', 'srvtoolu_1'],
          'what takes too long is paused, and its block told again');
ok(wait_for(sub {
    $paused = ask({ content => [$one] }, @short);
    return $paused->{json}{container};
}), 'its container is known before its end');
is($paused->{json}{usage}{server_tool_use}{code_execution_requests}, 0,
   'nothing is counted yet');
is_deeply(shape(again($paused, @short)), ['pause_turn', 'srvtoolu_1'],
          'it may be paused again');
let('one');
my $whole = again($paused);
is_deeply(shape($whole), ['end_turn', 'srvtoolu_1=one'],
          'the answer, sent back as it is, gets the result');
is_deeply($whole->{json}{container}{id}, $paused->{json}{container}{id},
          'of the same container');
is_deeply(shape(again($paused)), ['end_turn', 'srvtoolu_1=one'],
          'as often as it is asked');
is_deeply(shape(ask({ content => [$one] })), ['end_turn', 'srvtoolu_1=one'],
          'also by the blocks alone');
is(ran('one'), 1, 'it ran once');

# whose it is

$r = ask({ content => [$one] }, RETORT_WORKSPACE => 'other');
is_deeply(shape($r), ['end_turn', 'srvtoolu_1=one'],
          'the same blocks of another workspace');
is(ran('one'), 2, 'are another run');
my $other = ask({ content => [bash(1, 'out("new")')] });
is_deeply(shape($other), ['end_turn', 'srvtoolu_1=new'],
          'the same id with another input is another run');
$r = ask({ container => $other->{json}{container}{id}, content => [$one] });
is(ran('one'), 3, 'and so is one in another container');

# several blocks

my @all = (bash('a', 'out("a")'), bash('b', held('two')),
           bash('c', 'out("c")'));
wait_for(sub {
    $paused = ask({ content => \@all }, @short);
    return $paused->{json}{content}[0]{type} ne 'server_tool_use';
});
is_deeply(shape($paused), ['pause_turn', 'srvtoolu_a=a', 'srvtoolu_b',
                           'srvtoolu_c'], 'what is done is told');
let('two');
is_deeply(shape(again($paused)),
          ['end_turn', 'srvtoolu_b=two', 'srvtoolu_c=c'],
          'what is answered is not told again');
is_deeply(shape(ask({ content => \@all })), ['end_turn', 'srvtoolu_a=a',
          'srvtoolu_b=two', 'srvtoolu_c=c'], 'or it is, if it is asked for');
$r = ask({ content => [@all, bash('d', '1')] });
is($r->{status}, 409, 'blocks of two turns are refused');
is($r->{json}{error}{type}, 'conflict_error', 'as a conflict');
is(ran('two'), 1, 'nothing ran twice');

# what is answered already, and what only looks the same

$r = ask({ content => [bash('old', held('old')), { type =>
    'bash_code_execution_tool_result', tool_use_id => 'srvtoolu_old',
    content => {} }, bash('new', 'out("new")')] });
is_deeply(shape($r), ['end_turn', 'srvtoolu_new=new'],
          'a block whose result stands beside it is passed over');
is(ran('old'), 0, 'and does not run');

my $editor = ask({ content => [bash('set', 'sub view { } $v{editor} = sub {'
    . q(out('{"type":"view","content":"seen"}')) . '}')] })->{json}{container}
    {id};
my %same = (%{ bash('same', 'view') }, input => { command => 'view',
                                                  path => 'a' });
my @two = map { ask({ container => $editor, content => [{ %same, name => $_ }]
    })->{json}{content}[0]{content} } $same{name}, 'text_editor_code_execution';
is_deeply([$two[0]{stdout}, $two[1]{content}], ['', 'seen'],
          'the same id and input of another tool is another run');

# clients that leave

my $id = 'exec_n1_' . 'a' x 32;

sub status { $f->get('GET', "/executions/$id", '')->{json}{status} // '' }

sub leave {
    my ($name, $told) = @_;
    my $c = $f->client;
    my $body = { content => [bash($name, held($name))] };
    my $paused = $told ? ask($body, @short) : undef;
    $c->send_request($f->params('POST', '/code_execution', @api,
        RETORT_LIMIT_TURN => 60_000, $name eq 'gone' ? (RETORT_EXECUTION => $id)
        : ()), encode_json($body));
    wait_for(sub { ran($name) });
    return ($c, $body);
}

my ($c, $body) = leave('gone');
is(status(), 'running', 'a client waits for its run');
$c->close;
ok(wait_for(sub { status() eq 'cancelled' }), 'which ends if it leaves');

($c, $body) = leave('kept', 1);
$c->close;
let('kept');
is_deeply(shape(ask($body)),
          ['end_turn', 'srvtoolu_kept=kept'],
          'one that was told to come back does not');

($c, $body) = leave('both', 0);
my $second = $f->client;
$second->send_request($f->params('POST', '/code_execution', @api,
    RETORT_LIMIT_TURN => 60_000), encode_json($body));
let('both');
is_deeply([map { shape(Retort::Front::decode($_->read_answer)) } $c, $second],
          [(['end_turn', 'srvtoolu_both=both']) x 2],
          'two may wait for one turn');
is(ran('both'), 1, 'which runs once');

# many

my @many = map { ask({ content => [bash("m$_", held('many'))] },
                     RETORT_LIMIT_TURN => 10) } 1 .. 16;
is(scalar(grep { $_->{json}{stop_reason} eq 'pause_turn' } @many), 16,
   'sixteen turns of a workspace may go on');
$r = ask({ content => [bash('x', 'out("x")')] });
is_deeply([$r->{status}, @{shape($r)}],
          [200, 'end_turn', 'srvtoolu_x=too_many_requests'], 'not one more');
is_deeply(shape(ask({ content => [bash('x', 'out("x")')] },
                    RETORT_WORKSPACE => 'other')),
          ['end_turn', 'srvtoolu_x=x'], 'but those of others');
let('many');
is_deeply([map { shape(again($_))->[1] } @many],
          [map { "srvtoolu_m$_=many" } 1 .. 16], 'all of them come to an end');
is($f->get('POST', '/code_execution', { content => [$one] }, @api,
           RETORT_LIMIT_TURN => 'x')->{status}, 500, 'a turn has a length');

done_front($f);
