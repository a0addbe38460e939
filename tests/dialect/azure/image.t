#!/usr/bin/perl

# The image inside of a pool's container: its own words; with the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(threads => 16, ready => 1, control => 54321);
my $r;


sub ask {
    my ($method, $path, $body, %more) = @_;
    my $res = $f->get($method, $path, $body, RETORT_API => 'azure_image',
                      SCRIPT_NAME => '', %more);

    $res->{text} = $res->{body};
    $res->{text} =~ s/("executionTimeInMilliseconds":)\d+/${1}N/;
    $res->{text} =~ s/exec_n1_[0-9a-f]{32}/ID/g;

    return $res;
}

$r = ask('GET', '/health');
is("$r->{status} $r->{body}", qq(200 "healthy"\n), 'it is healthy');
ok(wait_for(sub { ask('GET', '/health/startup')->{status} == 200 }),
   'and has started some time');

$f->control('PUT', '/drain');
$r = ask('GET', '/health/startup');
is("$r->{status} $r->{body}", qq(500 "unhealthy"\n), 'one that takes no work '
   . 'has not');
is(ask('GET', '/health')->{status}, 200, 'though it is alive');
$f->control('DELETE', '/drain');

my %one = (QUERY_STRING => 'identifier=user-42');
is(ask('POST', '/executions', { code => 'out("a")' }, %one)->{text},
   '{"id":"ID","identifier":"user-42","executionType":"synchronous",'
   . '"status":"Succeeded","result":{"stdout":"a","stderr":"",'
   . '"executionResult":null,"executionTimeInMilliseconds":N}}' . "\n",
   'an execution, whole');
is(ask('POST', '/executions', { code => 'out("a")' })->{json}{identifier},
   '', 'a name for the request is not needed');

$r = ask('POST', '/executions', { code => 'nap(0.2); out("late")',
                                  executionType => 'asynchronous' }, %one);
is("$r->{status} $r->{text}", '202 {"id":"ID","identifier":"user-42",'
   . '"executionType":"asynchronous","status":"NotStarted","result":{"stdout":'
   . '"ID","stderr":"","executionResult":null,'
   . '"executionTimeInMilliseconds":N}}' . "\n",
   'a run that goes on has its name as its output');

my $id = $r->{json}{result}{stdout};
ok(wait_for(sub { $r = ask('GET', "/executions/$id", undef, %one);
                  ($r->{json}{result}{stdout} // '') eq 'late' }),
   'by which it is found');
is(ask('GET', '/executions/nothing', undef, %one)->{body},
   qq("No execution available for operation Id: nothing"\n),
   'another is not, in words of its own');
$r = ask('POST', '/executions', { });
is("$r->{status} $r->{body}", '400 "`Code` field is required in the request"'
   . "\n", 'nor is a request without code taken');

$r = ask('POST', '/shellExecute', { shellCommand => 'out("x"); done(1, 2)',
    shellType => 'bash' }, %one);
is($r->{text}, '{"status":"Failed","errorName":"","errorMessage":"",'
   . '"exitCode":2,"identifier":"user-42","result":{"stdout":"x","stderr":"",'
   . '"executionTimeInMilliseconds":N}}' . "\n", 'a command, whole')
   or diag($r->{text});
is(ask('POST', '/shellExecute', { shellCommand => 'out("x")' }, %one,
       HTTP_X_EXECUTION_IDENTIFIER => 'op 1')->{json}{identifier}, 'op 1',
   'it may be called so in a header') for 1, 2;
$r = ask('POST', '/shellExecute', {}, %one);
is("$r->{status} $r->{body}", q(400 "no command provided in the request, at )
   . q(least one of the 'shellCommand' or 'ExecCommandAndArgs' fields should )
   . qq(be provided"\n), 'none is told');
$r = ask('POST', '/shellExecute', { shellCommand => 'nap(30)',
                                    timeoutInSeconds => 1 }, %one)->{json};
is_deeply([@$r{qw(status errorName exitCode)}],
          ['Failed', 'ExecutionTimeout', -1], 'one that takes too long');
is(ask('POST', '/shellExecute', $_, %one)->{status}, 400, 'not one command')
    for {}, { code => 'x' }, { shellCommand => 'a',
        execCommandAndArgs => ['b'] }, { shellCommand => 'a',
        shellType => 'fish' };

done_front($f);
