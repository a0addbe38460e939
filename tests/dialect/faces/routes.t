#!/usr/bin/perl

# Every route of Azure, Anthropic, Ubik and E2B against every kind of nonsense:
# bodies, queries, methods, paths.  Each answer comes, has the dialect's own
# form, and is no failure of ours.  With the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(threads => 16, request => 100_000);
my $text = qr/"(?:[^"\\]|\\.)+"/;

# what an error is in each of them

my %face = (
    azure => qr/^\{"error":\{"code":"\w+","message":$text\}\}\n$/,
    azure_image => qr/^(?:\{"error":\{"code":"\w+","message":$text\}\}
                        |$text)\n$/x,
    anthropic => qr/^\{"type":"error","error":\{"type":"\w+","message":
                     $text(?:,"details":\{"error_code":"\w+"\})?\},
                     "request_id":"req_[0-9a-f]{24}"\}\n$/x,
    ubik => qr/^\{"detail":(?:$text|\[\{"loc":\["(?:body|query)".*\}\])\}\n$/,
    e2b => qr/^\{"code":\d+,"message":$text\}\n$/,
);

my $exec = 'exec_n1_' . 'a' x 32;
my $id = 'identifier=user-42&api-version=1';
my $sbx = $f->get('POST', '/v2/sandboxes', { templateID => 'default' },
                  RETORT_API => 'e2b')->{json}{sandboxID};
my %head = (anthropic => { HTTP_ANTHROPIC_VERSION => '1' },
            e2b => { HTTP_E2B_SANDBOX_ID => $sbx });

like($sbx, qr/^sbx_/, 'there is a sandbox to ask about');

# route by route: method, path, query, what its body is

my %routes = (
    azure => [
        map({ ['POST', $_, $id, 'json'] } qw(/executions /code/execute
            /python/execute /execute)),
        ['GET', '/executions/x', $id], ['GET', '/files', $id],
        ['POST', '/files', $id, 'form'], ['POST', '/files/upload', $id, 'form'],
        ['GET', '/files/content/a', $id], ['GET', '/files/a', $id],
        ['GET', '/files/a/content', $id], ['DELETE', '/files/a', $id],
        ['GET', '/session', $id], ['DELETE', '/session', $id],
        ['GET', '/listSessions', $id], ['GET', '/metadata', $id],
        map({ ['POST', "/.management/$_", $id, 'none'] }
            qw(getSession listSessions stopSession)),
    ],
    azure_image => [
        ['GET', '/health', ''], ['GET', '/health/startup', ''],
        ['POST', '/executions', $id, 'json'],
        ['POST', '/shellExecute', $id, 'json'], ['GET', '/executions/x', $id],
        ['GET', '/files', $id], ['POST', '/files', $id, 'form'],
        ['GET', '/files/a', $id], ['GET', '/files/a/content', $id],
        ['DELETE', '/files/a', $id],
    ],
    anthropic => [
        ['POST', '/files', '', 'form'], ['GET', '/files', ''],
        ['GET', '/files/file_x', ''], ['GET', '/files/file_x/content', ''],
        ['DELETE', '/files/file_x', ''], ['POST', '/code_execution', '', 'json'],
        ['POST', '/messages', '', 'json'],
    ],
    ubik => [
        ['GET', '/tools', ''], ['GET', '/tools/code_execution', ''],
        ['POST', '/tools/code_execution/execute', '', 'json'],
        ['GET', "/tool-executions/$exec", ''],
        ['GET', "/tool-executions/$exec/stream", ''],
        ['POST', "/tool-executions/$exec/provide-input", '', 'form'],
        ['GET', "/assets/tools/code_execution/$exec/a.png", ''],
        ['POST', '/auth/token', '', 'json'],
    ],
    e2b => [
        ['POST', '/v2/sandboxes', '', 'json'], ['GET', '/v2/sandboxes', ''],
        ['POST', "/v2/sandboxes/$sbx/connect", '', 'json'],
        ['GET', "/sandboxes/$sbx", ''],
        ['POST', "/sandboxes/$sbx/timeout", '', 'json'], ['GET', '/health', ''],
        ['POST', '/execute', '', 'json'], ['GET', '/contexts', ''],
        ['POST', '/contexts', '', 'json'], ['DELETE', '/contexts/x', ''],
        ['POST', '/contexts/x/restart', '', 'none'],
        ['GET', '/files', 'path=a'], ['POST', '/files', 'path=a', 'form'],
    ],
);


# asked, and its answer looked at; "must" be an error

my @bad;

sub ask {
    my ($api, $method, $path, $query, $must, $body, %more) = @_;
    my $r = $f->get($method, $path, $body, RETORT_API => $api, SCRIPT_NAME =>
        '/x', QUERY_STRING => $query, %{ $head{$api} // {} }, %more);
    my $said = ($r->{body} // '') =~ s/\s+$/\n/r;
    my $status = $r->{status} // 0;

    return if $status >= 200 && $status < 400 && !$must;
    return if $status >= 400 && $status < 499 && $said =~ $face{$api}
        && ($api ne 'azure' || $r->{header}{'x-ms-error-code'})
        && ($status != 405 || $r->{header}{allow});

    push @bad, substr("$method $path?$query " . join(' ', %more), 0, 200)
        . ', ' . substr($body, 0, 100) . ": $status " . substr $said, 0, 300;
}

# what was asked since the last time

sub told {
    my ($name) = @_;
    is(scalar(@bad), 0, $name) or diag(map { s/[^\n -~]/?/gr . "\n" } @bad);
    @bad = ();
}

# bodies that are no objects; that are some, of which nothing is known

my @none = ('', ' ', '{', '}', '[]', 'null', '5', '"x"', 'true', "\0", "\n",
    '{"a":1,"a":2}', "{\"a\":\"\xff\"}", "{\"\xc0\xaf\":1}", '{"a":"\ud800"}',
    '{"a":"b', '{"a":NaN}', '{"a":Infinity}', "{'a':1}", '{"a":1,}', '{a:1}',
    '{"a":01}', '{"a":+1}', '{"a":.5}', '{} {}', '/**/{}', "\xef\xbb\xbf{}",
    "\xff\xfe{\0}\0", '[' x 50_000, '{"a":' x 50_000, 'x' x 200_000,
    "{\"a\":\"\x01\"}", '{"a":"\x"}', '{"\u0000":1}');
my @odd = ('{"a":1e999999}', '{"a":-0}', '{"a":' . '9' x 400 . '}',
    '{"' . 'k' x 60_000 . '":1}', '{"__proto__":{},"":null}',
    '{"code":{},"timeout":[],"inputs":[],"content":{},"messages":{}}',
    '{"code":-1,"timeout":-1,"timeoutInSeconds":-1,"content":[[[]]]}',
    '{"timeout":1e18,"timeoutInSeconds":1e18,"expires_in_minutes":1e18}',
    '{"timeout":99999999999999999999,"external_user_id":"\u0000"}',
    '{"code":"\u0000","context_id":"../x","cwd":"\u0000","metadata":[]}');

# forms that are none: what is between two CRLFs, and the delimiter's name

my ($cd, $end) = ('Content-Disposition: form-data', '--B--');

sub lines { map { join "\r\n", '--B', @$_, '' } @_ }

my @forms = lines([$end], [$cd, '', 'x', $end], ["$cd; name=\"\"", '', 'x',
    $end], ["$cd; name=file", '', 'x'], [('X: y') x 5000, '', 'x', $end],
    ["$cd; name=file; filename=\"a\0b\"", '', 'x', $end],
    ["$cd; name=\"" . 'n' x 5000 . '"', '', 'x', $end], ['', '', $end],
    ["$cd; name=file; filename=\"" . 'a' x 5000 . '"', '', 'x', $end],
    ["$cd; name=file; filename*=utf-8''%ff%00", '', 'x', $end],
    ["$cd; name=file; filename*=latin1'x'y", '', 'x', $end],
    ["$cd; name=file; filename=\"a", '', 'x', $end],
    ['Content-Disposition: attachment; name=file', '', 'x', $end]);
my @strange = lines(["$cd; name=other; filename=a", '', 'x', $end],
    ["$cd; name=file; filename=\"../../etc/passwd\"", '', 'x', $end]);
my @types = ('', 'text/html', 'application/json', 'multipart/form-data',
    'multipart/form-data; boundary=', 'multipart/form-data; boundary=""',
    'multipart/form-data; boundary=' . 'b' x 500, 'multipart/mixed; boundary=B',
    "multipart/form-data; boundary=\"B\r\nX: y\"", "\xff\xfe", 'x' x 5000);

my @queries = ('%', '%zz', '%00', '&&&', '=', '==&=', 'a' x 60_000,
    'limit=' . '9' x 60, 'limit=-1', 'limit=1e9', 'page=-1', 'page=0x10',
    'page=page_' . 'f' x 16, 'page=page_' . '0' x 16, 'page=page_' . 'g' x 16,
    join('&', ('ids[]=x') x 300), 'ids[]=' . 'x' x 5000, 'ids[]',
    'after_id=%ff', 'before_id=' . 'x' x 500, 'scope_id=%00', 'skip=-1',
    'skip=' . '9' x 30, 'maxpagesize=' . '9' x 30, 'path=..', 'path=%2e%2e%2f',
    'path=/etc/passwd', 'path=' . 'a/' x 2000, 'path=%00', 'path=%ff',
    'recursive=2', 'identifier=%ff', 'identifier=..%2f..%2f', "identifier=a\tb",
    'metadata=%25', 'metadata=' . 'a%3Db%26' x 500, 'api-version=' . '2' x 900);

my @paths = ('', '/', '//', '/..', '/../../etc/passwd', '/%2e%2e', "/\0",
    "/files/\xff", '/files/..', '/files/../../x/content', "/files/a\nb",
    '/files/' . 'x/' x 600, '/files/' . 'x' x 5000, '/sandboxes/..',
    '/sandboxes/' . 'x' x 5000, '/executions/' . 'x' x 5000, '/tools/..',
    '/tool-executions/../x/stream', '/assets/tools/x/../../y',
    '/assets/tools/code_execution/' . 'x' x 5000, '/contexts/' . 'x' x 5000,
    '/contexts//restart', '/files//content', '/files/file_x/content/more');

# the bodies of a route

my @json = (CONTENT_TYPE => 'application/json');
my @form = (CONTENT_TYPE => 'multipart/form-data; boundary=B');

sub json {
    my ($name, @to) = @_;
    my $azure = $to[0] =~ /azure/;
    my $free = $to[2] =~ m{/v2/sandboxes$|/connect$};

    ask(@to, 1, $_, @json) for grep { $_ ne '' || !$free } @none;
    told("$name: what is no object is an error");
    ask(@to, 0, $_, @json) for @odd;
    told("$name: an odd object does no harm");
    ask(@to, 1, '{"a":1}', CONTENT_TYPE => $_)
        for grep { !/json/ && ($_ ne '' || !$azure) } @types;
    told("$name: so does another type of body");
}

sub form {
    my ($name, @to) = @_;

    ask(@to, 1, $_, @form) for @forms, '', "--B\r\n", '--B--',
        "\r\n--B--\r\n", '-' x 90_000, "--B\n\n--B--\n";
    told("$name: what is no form is an error");
    ask(@to, 0, $_, @form) for @strange;
    told("$name: a strange one does no harm");
    ask(@to, 1, "--B\r\n", CONTENT_TYPE => $_) for @types;
    told("$name: another type of body is an error");
}

for my $api (sort keys %routes) {
    for my $route (@{ $routes{$api} }) {
        my ($method, $path, $query, $kind) = @$route;
        my $name = "$api $method "
            . ($path =~ s/\Q$sbx\E/SBX/r =~ s/\Q$exec\E/EXEC/r);
        my @to = ($api, $method, $path, $query);

        $kind eq 'json' ? json($name, @to)
            : $kind eq 'form' ? form($name, @to) : () if $kind;

        ask(@to[0 .. 2], "$query&$_", 0, '') for @queries;
        told("$name: a malformed query does no harm");
        ask($api, $_, @to[2, 3], 1, '')
            for qw(PUT PATCH OPTIONS TRACE CONNECT), "G\xffT", 'x' x 500;
        told("$name: another method is an error");
    }

    ask($api, 'GET', $_, $id, 0, '') for @paths;
    told("$api: any path has an answer");
}

is($f->get('POST', '/execute', { code => 'out(1)' })->{json}{stdout}, '1',
   'the front has lived through all that');
done_front($f);
