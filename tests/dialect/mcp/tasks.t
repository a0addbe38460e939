#!/usr/bin/perl

# MCP's extension for tasks: what may take minutes is answered at once, and
# asked for later; with the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

use constant { M => 'io.modelcontextprotocol', V => '2026-07-28' };

my $f = Retort::Front->start(ready => 1, threads => 40,
                             timeout_max => 600_000);
my $tasks = { extensions => { M . '/tasks' => {} } };
my $n = 0;


sub rpc {
    my ($method, $params, %o) = @_;
    my $name = $params->{taskId} // $params->{name};
    my $new = $o{old} ? 0 : 1;

    return $f->get('POST', '', { jsonrpc => '2.0', id => 1, method => $method,
        params => { %$params, $new ? (_meta => { M . '/protocolVersion' => V,
            M . '/clientCapabilities' => $o{can} // $tasks }) : () } },
        RETORT_API => 'mcp', SCRIPT_NAME => '/mcp', CONTENT_TYPE =>
        'application/json', RETORT_EXECUTION => sprintf('exec_n1_%032x', ++$n),
        $new ? (HTTP_MCP_PROTOCOL_VERSION => V, HTTP_MCP_METHOD => $method,
                defined $name ? (HTTP_MCP_NAME => $name) : ()) : (),
        RETORT_WORKSPACE => $o{who} // 'demo', %{$o{more} // {}});
}

sub call {
    my ($code, $timeout, %o) = @_;
    return rpc('tools/call', { name => 'python', arguments => {
        code => $code, timeout => $timeout } }, %o)->{json}{result};
}

sub task { return rpc('tasks/get', { taskId => $_[0] }, @_[1 .. $#_]) }

sub settled {
    my ($id, $r) = @_;
    wait_for(sub { ($r = task($id)->{json}{result})->{status} ne 'working' });
    return $r;
}


my $r = call('nap(0.5); out("a\n"); show(1, "text/plain", "7")', 120);
is($r->{resultType}, 'task', 'what may take more than a minute is a task');
is($r->{status}, 'working', 'that has begun');
like($r->{taskId}, qr/^exec_n1_/, 'it has an id');
like($r->{$_}, qr/^\d{4}-\d\d-\d\dT/, "and $_") for qw(createdAt lastUpdatedAt);
like($r->{$_}, qr/^\d+$/, "and $_") for qw(ttlMs pollIntervalMs);
ok(!exists $r->{result}, 'and no result yet');

my $id = $r->{taskId};
is(task($id)->{json}{result}{taskId}, $id, 'it can be asked for at once');
is(task($id, who => 'other')->{json}{error}{code}, -32602,
   'but not by another workspace');
$r = settled($id);
is($r->{resultType}, 'complete', 'asking is complete by itself');
is($r->{status}, 'completed', 'then it is done');
is($r->{result}{structuredContent}{stdout}, "a\n", 'and has its result');
is($r->{result}{structuredContent}{result}, '7', 'as a call would');
my $box = $r->{result}{structuredContent}{sandbox_id};
is(call("out('here')", 1)->{structuredContent}{stdout}, 'here',
   'what is short is no task');

$r = settled(call('die "no\n"', 120)->{taskId});
is($r->{status}, 'completed', 'code that fails is a task that is done');
ok($r->{result}{isError}, 'with an error as its result');

# the end

$id = call('nap(600)', 500)->{taskId};
$r = rpc('tasks/cancel', { taskId => $id })->{json}{result};
is_deeply([sort keys %$r], ['_meta', 'resultType'], 'a cancel says nothing');
is(settled($id)->{status}, 'cancelled', 'and ends the code');
is(rpc('tasks/cancel', { taskId => $id })->{json}{result}{resultType},
   'complete', 'once more is no error');
is(rpc('tasks/update', { taskId => $id, inputResponses => {} })->{json}
   {result}{resultType}, 'complete', 'nor is an answer to no question');

# who gets none

is(call('1', 120, can => {})->{resultType}, 'complete',
   'who does not know tasks waits');
ok(call('out("x")', 120, old => 1)->{content}, 'so does the older era');

for my $method (qw(tasks/get tasks/update tasks/cancel)) {
    $r = rpc($method, { taskId => $id }, can => {});
    is($r->{status}, 400, "$method wants the extension");
    is_deeply($r->{json}{error}{data}, { requiredCapabilities => $tasks },
              'and says so');
    is(rpc($method, { taskId => $_ })->{json}{error}{code}, -32602,
       "$method: \"$_\" is no task")
        for 'x', 'exec_n1_' . '9' x 32, 'x' x 400, sprintf 'exec_n1_%032x', 999;
}

is(rpc($_, {})->{status}, 404, "$_ is gone") for qw(tasks/list tasks/result);
call('out("plain")', 1);
is(task(sprintf 'exec_n1_%032x', $n)->{json}{error}{code}, -32602,
   'a run that was answered is no task');
is(rpc('tasks/get', { taskId => $id }, old => 1)->{json}{error}{code}, -32601,
   'the older era has none');

# as many as may go on without their clients

my @all = map { call('nap(600)', 500) } 1 .. 17;
is(scalar(grep { ($_->{resultType} // '') eq 'task' } @all), 16,
   'a workspace has not more than a bound');
my ($no) = grep { $_->{resultType} ne 'task' } @all;
is($no->{structuredContent}{error}{name}, 'no_capacity', 'then it says so');
rpc('tasks/cancel', { taskId => $_->{taskId} })
    for grep { defined $_->{taskId} } @all;

# a fixture of the conformance suite, which ends in a fault

my @fixtures = (more => { RETORT_MCP_FIXTURES => 'on' });
$r = rpc('tools/call', { name => 'protocol_error_job', arguments => {} },
         @fixtures)->{json}{result};
is($r->{resultType}, 'task', 'a fixture is a task');
$id = $r->{taskId};
wait_for(sub {
    $r = task($id, @fixtures)->{json}{result};
    return $r->{status} ne 'working';
});
is_deeply([$r->{status}, $r->{error}{code}, exists $r->{result}],
          ['failed', -32603, ''], 'that fails without a result');

done_front($f);
