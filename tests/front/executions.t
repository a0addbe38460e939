#!/usr/bin/perl

# Runs that go on behind their answer, and how they and others are ended.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;
use Time::HiRes qw(time sleep);

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

our $f = Retort::Front->start(ready => 1, threads => 16);


sub ask {
    my ($method, $path, %params) = @_;

    my $r = $f->client->request($f->params($method, $path, %params));
    $r->{json} = eval { JSON::PP->new->utf8->decode($r->{body}) };
    return $r;
}


sub send_ {
    my ($path, $body) = @_;

    my $c = $f->client;
    $c->send_request($f->params(POST => $path, CONTENT_TYPE =>
                                'application/json'), encode_json($body));
    return $c;
}


sub verdict {
    my ($id) = @_;

    my $r;
    wait_for(sub { $r = ask(GET => "/executions/$id");
                   $r->{json}{status} !~ /^(?:waiting|running)$/ });
    return $r->{json};
}


# detached

my $r = $f->execute({ code => 'nap(0.7); out("late\n")', detach => \1 });
my $id = $r->{json}{execution_id};
is($r->{status}, 202, 'a detached run is answered with 202');
like($r->{json}{status}, qr/^(?:waiting|running)$/, 'and is not over');
ok(wait_for(sub { ask(GET => "/executions/$id")->{json}{status} eq 'running' }),
   'it can be asked for while it runs');
my $j = verdict($id);
is($j->{status}, 'ok', 'and after that has its verdict');
is($j->{stdout}, "late\n", 'and the whole answer');
my $again = verdict($id);
delete $_->{timings_us}{render} for $again, $j;
is_deeply($again, $j, 'any number of times');
is(ask(GET => "/executions/$id", RETORT_WORKSPACE => 'other')->{status}, 404,
   'another workspace has no such execution');

$r = $f->execute({ code => '1', detach => \1,
                   sandbox_id => 'sbx_n1_' . '0' x 32 });
is($r->{status}, 404, 'what can be refused at once is');

$j = verdict($f->execute({ code => '1', detach => \1, files =>
    [{ name => 'full', text => 'x' }] })->{json}{execution_id});
is($j->{status}, 'error', 'what is refused later is an error');
is($j->{error}{name}, 'file_refused', 'that has the name of the refusal');

# in a session, in order: that in which they line up, behind their answers

$r = $f->execute({ code => '$v{n} = 1', keep => \1 });
my $box = $r->{json}{sandbox_id};
my @ids = map {
    sleep 0.05;
    $f->execute({ code => "nap(0.2); \$v{n} = \$v{n} * 2 + $_; out(\$v{n})",
                  sandbox_id => $box, detach => \1 })->{json}{execution_id}
} 0, 1, 0;
is_deeply([map { verdict($_)->{stdout} } @ids], [2, 5, 10],
          'detached cells of a session run in their order');

# cancelled by name

$id = $f->execute({ code => 'nap(30)', sandbox_id => $box, detach => \1 })
    ->{json}{execution_id};
wait_for(sub { ask(GET => "/executions/$id")->{json}{status} eq 'running' });
my $waiting = $f->execute({ code => 'out("mine")', sandbox_id => $box,
                            detach => \1 })->{json}{execution_id};
my $gone = $f->execute({ code => 'out("never")', sandbox_id => $box,
                         detach => \1 })->{json}{execution_id};
wait_for(sub { ask(GET => "/executions/$gone")->{json}{status} eq 'waiting' });
$r = ask(DELETE => "/executions/$gone");
is($r->{status}, 200, 'one that waits can be cancelled');
is($r->{json}{status}, 'cancelled', 'and is');
$r = ask(DELETE => "/executions/$id", RETORT_WORKSPACE => 'other');
is($r->{status}, 404, 'by its own workspace only');
$r = ask(DELETE => "/executions/$id");
is($r->{status}, 200, 'one that runs can be cancelled');
is($r->{json}{status}, 'cancelled', 'and has that verdict');
is($r->{json}{state}, 'kept', 'the session lives');
is(verdict($waiting)->{stdout}, 'mine', 'who waited behind it runs');
is($f->execute({ code => 'out($v{n})', sandbox_id => $box })->{json}{stdout},
   10, 'with the variables');
$r = ask(DELETE => "/executions/$id");
is($r->{json}{status}, 'cancelled', 'a second time changes nothing');
$r = ask(DELETE => "/executions/$waiting");
is($r->{json}{status}, 'ok', 'what is over stays as it was');

# the same for a run whose client waits

my $c = send_('/execute', { code => 'nap(30)', sandbox_id => $box });
wait_for(sub { ask(GET => "/sandboxes/$box")->{json}{status} eq 'running' });
$r = ask(POST => "/sandboxes/$box/interrupt");
is($r->{status}, 200, 'what runs in a sandbox can be interrupted');
$r = $c->read_answer;
like($r->{body}, qr/"status":"cancelled"/, 'its client is told');
like($r->{body}, qr/It was asked to end/, 'and why');
is($f->execute({ code => 'out($v{n})', sandbox_id => $box })->{json}{stdout},
   10, 'the variables are there');
is(ask(POST => "/sandboxes/$box/interrupt")->{status}, 200,
   'an idle one does not mind');
is($f->execute({ code => 'nap(0.2); out("all")', sandbox_id => $box })
   ->{json}{stdout}, 'all', 'and its next cell is not hit');

# a new interpreter

$c = send_('/execute', { code => 'nap(30)', sandbox_id => $box });
wait_for(sub { ask(GET => "/sandboxes/$box")->{json}{status} eq 'running' });
my $next = send_('/execute', { code => 'out($v{n} // "new")',
                               sandbox_id => $box });
$r = ask(POST => "/sandboxes/$box/restart");
is($r->{status}, 200, 'a sandbox can be restarted in the middle of a cell');
is($r->{json}{sandbox_id}, $box, 'and is the same');
like($c->read_answer->{body}, qr/"status":"cancelled"/, 'that cell is ended');
like($next->read_answer->{body}, qr/"stdout":"new"/,
     'who waited finds a new interpreter');

for my $path ('interrupt', 'restart') {
    is(ask(POST => "/sandboxes/$box/$path", RETORT_WORKSPACE => 'other')
       ->{status}, 404, "$path is for the owner");
    is(ask(GET => "/sandboxes/$box/$path")->{status}, 405, 'and a POST');
}

# many at once, and the end of the service

my @many = map { $f->execute({ code => 'nap(30)', detach => \1 }) } 1 .. 14;
is(scalar(grep { $_->{status} == 202 } @many), 14, 'many may be under way');
@ids = map { $_->{json}{execution_id} } @many;
wait_for(sub { ask(GET => "/executions/$ids[0]")->{json}{status} eq 'running' });
ask(DELETE => "/executions/$_") for @ids[0 .. 12];
is(verdict($ids[0])->{status}, 'cancelled', 'and be ended');

# half of them all are the most that one workspace may have

{
    local $f = Retort::Front->start(threads => 24);
    my @other = (RETORT_WORKSPACE => 'other');
    my %nap = (code => 'nap(30)', detach => \1);

    my @mine = map { $f->execute(\%nap) } 1 .. 16;
    is(join(' ', map { $_->{status} } @mine), join(' ', (202) x 16),
       'sixteen may go on without their client');
    $r = $f->execute(\%nap);
    is_deeply([$r->{status}, $r->{json}{error}{code}, $r->{header}{'retry-after'}],
              [429, 'no_capacity', 1], 'a seventeenth of the workspace may not');
    like($r->{json}{error}{message}, qr/too many runs go on without/, 'which is told');
    is($f->execute({ code => 'out(1)' })->{json}{stdout}, 1,
       'one whose client waits may');
    is(scalar(grep { $f->execute(\%nap, @other)->{status} == 202 } 1 .. 3), 3,
       'so may those of another workspace');
    ask(DELETE => "/executions/$mine[0]{json}{execution_id}");
    ok(wait_for(sub { $f->execute(\%nap)->{status} == 202 }),
       'one that ends makes room');
    is($f->execute(\%nap)->{status}, 429, 'for one');
    unlike($f->log, qr/Sanitizer|runtime error/, 'no sanitizer report there');
    kill 'KILL', $f->{pid};
}

# a front that dies

my $kept = $f->execute({ code => '$v{n} = 3', keep => \1 })->{json}{sandbox_id};
@ids = map { $f->execute({ code => 'nap(30)', detach => \1, @$_ })
             ->{json}{execution_id} } [], [sandbox_id => $kept];
for my $one (@ids) {
    wait_for(sub { ask(GET => "/executions/$one")->{json}{status}
                   eq 'running' });
}
kill 'KILL', $f->{pid};
$f->ended;
$f->run();
$j = verdict($ids[0]);
is($j->{status}, 'lost', 'a detached run of a front that died is lost');
is($j->{sandbox_id}, undef, 'and its sandbox gone');
$j = verdict($ids[1]);
is($j->{status}, 'lost', 'so is one in a session');
is($j->{sandbox_id}, $kept, 'which is named');
is(ask(GET => "/executions/$ids[0]", RETORT_WORKSPACE => 'other')->{status},
   404, 'to its own workspace');
is($f->execute({ code => 'out($v{n})', sandbox_id => $kept })->{json}{stdout},
   3, 'the session lives');
is(ask(GET => "/executions/$many[13]{json}{execution_id}")->{status}, 200,
   'whatever ran behind its answer has a verdict');

done_front($f);
