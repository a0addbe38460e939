#!/usr/bin/perl

# Azure's dynamic sessions: executions in each shape, byte by byte, with the
# front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP qw(encode_json);
use MIME::Base64 qw(encode_base64);
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(threads => 16);
my $query = 'api-version=2025-10-02-preview&identifier=user-42';
my $r;


# the answer with what differs each time taken out

sub ask {
    my ($path, $body, %more) = @_;

    my $res = $f->get('POST', $path, $body, RETORT_API => 'azure',
                      SCRIPT_NAME => '/azure', QUERY_STRING => $query, %more);
    $res->{text} = $res->{body};
    $res->{text} =~ s/("executionTimeInMilliseconds":)\d+/${1}N/;
    $res->{text} =~ s/"id":"exec_n1_[0-9a-f]{32}"/"id":"ID"/;

    return $res;
}

sub result { return ask('/executions', { code => $_[0] })->{json}{result} }


# the newer shape

my $hi = 'out("a\n"); show(1, "text/plain", "2")';
my $resource = '{"id":"ID","identifier":"user-42","executionType":'
    . '"Synchronous","status":"Succeeded","result":{"stdout":"a\n",'
    . '"stderr":"","executionResult":2,"executionTimeInMilliseconds":N}}'
    . "\n";
$r = ask('/executions', { codeInputType => 'Inline', code => $hi,
    executionType => 'Synchronous', timeoutInSeconds => 60 });
is("$r->{status} $r->{text}", "200 $resource", 'an execution, whole');
like($r->{header}{'operation-id'}, qr/^exec_n1_/, 'its id is in a header');
is($r->{header}{'operation-location'}, '/azure/executions/'
   . "$r->{header}{'operation-id'}?api-version=2025-10-02-preview&"
   . 'identifier=user-42', 'and where it can be asked for');
is($r->{header}{'x-ms-new-allocation'}, 'true', 'it made the session');
like($r->{header}{'api-supported-versions'}, qr/^2024-02-02-preview, .*, /,
     'and versions that are served');
like($r->{header}{'x-ms-session-guid'}, qr/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-/,
     'which has a number');
$r = ask('/executions', { CODE => $hi, codeinputtype => 'inline',
    ExecutionType => 'synchronous', whatever => 1, useEmptyKernel => \0,
    shellCommand => undef });
is($r->{text}, $resource, 'keys and words have any case, others are ignored');
is($r->{header}{'x-ms-new-allocation'}, 'false', 'the session was there');
is(ask($_, { code => $hi })->{text}, $resource, "at $_ as well")
    for '/code/execute', '/execute';
is(ask('/executions', { codeInputType => 'InlineBase64',
    code => encode_base64($hi, '') })->{text}, $resource, 'code in base64');
$r = ask('/executions', { code => $hi }, HTTP_HOST => 'h.example:8080',
         REQUEST_SCHEME => 'https');
like($r->{header}{'operation-location'},
     qr{^https://h\.example:8080/azure/executions/}, 'a whole URL');
$r = ask('/executions', { code => $hi }, HTTP_HOST => 'h"x');
like($r->{header}{'operation-location'}, qr{^/azure/executions/},
     'but of no odd host');

# the older ones

my $old = '"status":"Success","stdout":"a\n","stderr":"","result":2,'
    . '"executionTimeInMilliseconds":N}';
my %inline = (codeInputType => 'inline', executionType => 'synchronous');
is(ask($_, { properties => { %inline, code => $hi } })->{text},
   qq({"\$id":"1","properties":{"\$id":"2",$old}\n), "the older shape at $_")
    for '/code/execute', '/executions';
$r = ask('/python/execute', { properties => { %inline, pythonCode => $hi,
    identifier => 'old-1' } }, QUERY_STRING => 'api-version=1');
is($r->{text}, qq({"\$id":"1",$old\n), 'the oldest one');
is(ask('/code/execute', { properties => { %inline, code => 'out("x")' } })
   ->{json}{properties}{result}, '', 'no result is an empty one there');
is(ask('/code/execute', { properties => { %inline, code => 'die "oops\n"' } })
   ->{json}{properties}{status}, 'Failure', 'a failure');

# values

for (['None', undef], ["'abc'", 'abc'], ['nan', 'nan'], ['[1, (2, None)]',
     [1, [2, undef]]], ["{'a': True}", { a => JSON::PP::true }],
     ['<object>', '<object>'], ['-0.5', -0.5])
{
    is_deeply(result("show(1, 'text/plain', q($_->[0]))")->{executionResult},
              $_->[1], "the value $_->[0]");
}

is(result('out("x")')->{executionResult}, undef, 'no value');

# pictures

my $png = "\x89PNG\r\n\x1a\n" . 'x' x 40;
my $draw = 'show(2, "image/png", "\x89PNG\r\n\x1a\n" . "x" x 40);';
my $image = { type => 'image', format => 'png',
              base64_data => encode_base64($png, '') };
is_deeply(result($draw)->{executionResult}, $image, 'a picture');
is_deeply(result("$draw show(1, 'text/plain', '[<Line2D>]')")
          ->{executionResult}, $image, 'counts for more than what plots return');
is(result("$draw show(1, 'text/plain', '42')")->{executionResult}, 42,
   'and for less than data');

# streams

$r = result('out("\x{e2}\x{82}\x{ac}" x 5000); err("e" x 5000)');
is($r->{stdout}, "\x{20ac}" x 4096, 'a stream has 4,096 characters');
is($r->{stderr}, 'e' x 4096, 'and so has the other');
$r = ask('/executions', { code => 'out("abc"); err("d\n"); die "oops\n"',
    outputStreamsMaxLength => 2 })->{json};
is_deeply([@{$r->{result}}{qw(stdout stderr)}], ['ab', "d\n"], 'or fewer');
$r = ask('/executions', { code => 'err("d\n"); die "oops\n"' })->{json};
is($r->{status}, 'Failed', 'code that fails');
ok(!exists $r->{error}, 'is no error of the service');
is($r->{result}{stderr}, "d\nTraceback\nFault: oops\n", 'its traceback');

# ends of another kind

$r = ask('/executions', { code => 'nap(30)', timeoutInSeconds => 1 })->{json};
is($r->{status}, 'Failed', 'a run that takes too long fails');
is_deeply($r->{error}, { error => { code => 'Timeout', message =>
    'The execution exceeded its time limit.' } }, 'as a timeout');
$r = ask('/executions', { code => 'out("x"); oom()' })->{json};
like($r->{error}{error}{code}, qr/^(?:OutOfMemory|ConnectionClosed)$/,
     'one whose interpreter ends is told apart');
is(ask('/executions', { code => 'out("x")', timeoutInSeconds => 100_000 })
   ->{status}, 200, 'more time than there is, is taken as all that there is');

is(ask('/code/execute', { properties => { %inline, code => 'nap(30)',
    timeoutInSeconds => 1 } })->{json}{properties}{stderr},
   'Timeout: Code execution exceeded the time limit.',
   'the older shape may say a time as well');

# two at once take turns

my @both = map { $f->client } 1, 2;
$_->send_request($f->params('POST', '/executions', RETORT_API => 'azure',
    SCRIPT_NAME => '/azure', QUERY_STRING => $query, CONTENT_TYPE =>
    'application/json'), encode_json({ code => 'my $n = $v{n} // 0; nap(0.2); '
    . '$v{n} = $n + 1; out($v{n})' })) for @both;
is_deeply([sort map { Retort::Front::decode($_->read_answer)->{json}{result}
                          {stdout} } @both], [1, 2],
          'two runs of a session come one after the other');

# shells: the fake kernel runs Perl whatever the language is

$r = ask('/executions', { shellCommand => 'out("$language"); done(0, 3)' });
is($r->{text}, '{"identifier":"user-42","status":"3","result":{"stdout":"1",'
   . '"stderr":"","executionTimeInMilliseconds":N}}' . "\n",
   'a command of a shell, whole') or diag($r->{text});
is(ask('/executions', { shellCommand => 'done(0, 3)', timeoutInSeconds => 9,
    codeInputType => 'inline', executionType => 'synchronous' })->{json}
   {status}, 3, 'what is said of code beside it does no harm');

done_front($f);
