#!/usr/bin/perl

# Azure's dynamic sessions: sessions by their clients' names, runs that are
# asked for later, files; with the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(threads => 16, ready => 2);
my $time = qr/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:0000)?Z$/;
my $r;


sub ask {
    my ($method, $path, $id, $body, %more) = @_;
    my $query = 'api-version=' . (delete $more{version}
                                  // '2025-10-02-preview');

    $query .= "&identifier=$id" if defined $id;
    $query .= delete $more{query} // '';

    return $f->get($method, $path, $body, RETORT_API => 'azure',
                   SCRIPT_NAME => '/azure', QUERY_STRING => $query, %more);
}

sub out {
    my ($id, $code, %more) = @_;
    return ask('POST', '/executions', $id, { code => $code, %more })
        ->{json}{result}{stdout};
}


# names

out('user-42', '$v{x} = 7');
is(out('user-42', 'out($v{x})'), '7', 'a session keeps its variables');
is(ask('POST', '/code/execute', 'user-42', { properties => {
    codeInputType => 'inline', code => 'out($v{x})' } })
   ->{json}{properties}{stdout}, '7', 'in each shape of requests');
is(out('user-43', 'out($v{x} // "none")'), 'none', 'another has its own');
is(ask('POST', '/executions', 'user-42', { code => 'out($v{x} // "none")' },
       RETORT_WORKSPACE => 'other')->{json}{result}{stdout}, 'none',
   'and so has the same name in another workspace');
is(out('%7B%5B%22%3A%2F%3F%23%26%25%60%7E', 'out(1)'), '1',
   'any mark may be in a name');

# what is known of them

$r = ask('GET', '/session', 'user-42');
like($r->{json}{$_}, $time, "a session's $_")
    for qw(createdAt lastAccessedAt expireAt);
is($r->{json}{identifier}, 'user-42', 'its name');
like($r->{json}{etag}, qr/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
     'and that of its container');
is_deeply(ask('POST', '/.management/getSession', 'user-42')->{json}{etag},
          $r->{json}{etag}, 'the same by management');

# each request about a session uses it, and lets it live for longer by that

sub used {
    my ($s) = grep { $_->{identifier} eq 'user-42' }
        @{ask('GET', '/listSessions')->{json}{sessions}};
    return $s->{lastAccessedAt};
}

for my $use (['GET', '/session'], ['GET', '/files'],
             ['GET', '/executions/none'],
             ['POST', '/executions', { code => 'out(1)' }])
{
    my $before = used();
    is(used(), $before, 'a list of all uses none');
    ok(wait_for(sub { ask(@$use[0, 1], 'user-42', $use->[2]);
                      used() gt $before }), "$use->[0] $use->[1] renews it");
}

$f->execute({ code => 'out(1)', keep => JSON::PP::true });

sub names {
    my $r = ask('GET', '/listSessions', undef, undef, @_);
    return [sort map { $_->{identifier} } @{$r->{json}{sessions}}];
}

is_deeply(names(), ['user-42', 'user-43', '{[":/?#&%`~'],
          'all sessions with names are listed');
is(scalar @{names(query => '&skip=2')}, 1, 'from any of them on');
is(ask('GET', '/listSessions', undef, undef, query => "&$_=x")->{status},
   400, 'which is a number') for qw(skip maxpagesize);
$r = ask('GET', '/listSessions', undef, undef, query => '&maxpagesize=2',
         HTTP_HOST => 'h:8', REQUEST_SCHEME => 'https')->{json};
is($r->{nextLink}, 'https://h:8/azure/listSessions?api-version=2025-10-02-'
   . 'preview&skip=2&maxpagesize=2', 'a page tells where the next one is');
my @paged = ((map { $_->{identifier} } @{ $r->{sessions} }),
    @{ names(query => '&skip=2&maxpagesize=2') });
is_deeply([sort @paged], names(), 'and together they are the list');
is(ask('GET', '/listSessions', undef, undef, query => '&skip=1&maxpagesize=2')
   ->{json}{nextLink}, undef, 'the last page has no next one');
is_deeply([sort map { $_->{identifier} } @{ask('POST',
    '/.management/listSessions')->{json}{sessions}}], names(),
    'the same by management');

# they outlive the front

kill 'KILL', $f->{pid};
is($f->ended, 9, 'the front dies');
$f->run();
is(out('user-42', 'out($v{x})'), '7', 'a session outlives it');
is_deeply(names(), ['user-42', 'user-43', '{[":/?#&%`~'], 'with its name');

# their end

$r = ask('DELETE', '/session', 'user-43');
is("$r->{status}$r->{body}", '204', 'a session ends');
is(ask('GET', '/session', 'user-43')->{json}{error}{code},
   'NoSessionFoundError', 'and is not found again');
is(ask('DELETE', '/session', 'user-43')->{status}, 404, 'nor ended');
is(out('user-43', 'out($v{x} // "new")'), 'new', 'until it is used');
$r = ask('POST', '/.management/stopSession', 'user-43');
is("$r->{status} $r->{header}{'content-type'} $r->{body}", '200 text/plain; '
   . 'charset=utf-8 Session user-43 in session pool default stopped.',
   'it is stopped in words');

# runs that are asked for later

my %async = (executionType => 'Asynchronous');
$r = ask('POST', '/executions', 'user-42', { %async, code =>
    'nap(0.3); out("late")' }, HTTP_OPERATION_ID => 'my-run.1');
is($r->{status}, 202, 'a run goes on behind its answer');
is($r->{body}, '{"id":"my-run.1","identifier":"user-42","executionType":'
   . '"Asynchronous","status":"Running"}' . "\n", 'which says no more');
is($r->{header}{'operation-id'}, 'my-run.1', 'its name is in a header');

my $where = $r->{header}{'operation-location'};
is($where, '/azure/executions/my-run.1?api-version=2025-10-02-preview&'
   . 'identifier=user-42', 'and where it is');
is(ask('POST', '/executions', 'user-42', { code => 'out(1)' },
       HTTP_OPERATION_ID => 'my-run.1')->{json}{error}{code},
   'OperationIdAlreadyExists', 'no other run gets its name');
is(ask('GET', '/executions/my-run.1', 'user-44')->{json}{error}{code},
   'ExecutionNotFound', 'it is not in another session');
ok(wait_for(sub {
    $r = ask('GET', '/executions/my-run.1', 'user-42');
    $r->{json}{status} !~ /^(?:NotStarted|Running)$/ }), 'it ends');
$r->{body} =~ s/("executionTimeInMilliseconds":)\d+/${1}N/;
is($r->{body}, '{"id":"my-run.1","identifier":"user-42","executionType":'
   . '"Asynchronous","status":"Succeeded","result":{"stdout":"late",'
   . '"stderr":"","executionResult":null,"executionTimeInMilliseconds":N}}'
   . "\n", 'and is shown whole');

$r = ask('POST', '/executions', 'user-42', { %async, code => 'nap(60)' });
my $id = $r->{json}{id};
ok(wait_for(sub { ask('GET', "/executions/$id", 'user-42')->{json}{status}
                  eq 'Running' }), 'one without a name has an id');
is(ask('GET', "/executions/$id", 'user-44')->{status}, 404,
   'which is good in its session');
kill 'KILL', $f->{pid};
is($f->ended, 9, 'the front dies again');
$f->run();
$r = ask('GET', "/executions/$id", 'user-42')->{json};
is_deeply([@$r{qw(id status)}, $r->{error}{error}{code}],
          [$id, 'Failed', 'ConnectionError'], 'what ran then is lost');

done_front($f);
