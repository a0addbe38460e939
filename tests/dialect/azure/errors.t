#!/usr/bin/perl

# Azure's dynamic sessions: each thing that cannot be done has the status, the
# code and the form that Azure's clients know; with the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(threads => 32);
my $query = 'api-version=1&identifier=user-42';


sub ask {
    my ($method, $path, $body, %more) = @_;
    return $f->get($method, $path, $body, RETORT_API => 'azure',
                   SCRIPT_NAME => '/azure', QUERY_STRING => $query, %more);
}

sub is_error {
    my ($r, $status, $code, $name) = @_;

    is("$r->{status} " . ($r->{json}{error}{code} // $r->{body}),
       "$status $code", $name);
    is($r->{header}{'x-ms-error-code'}, $code, 'the same in a header');
    like($r->{body}, qr/^\{"error":\{"code":"\w+","message":"[^"].*"\}\}\n$/,
         'and a sentence about it');
}

# what names a session

my %id = ('' => 'SessionIdentifierMissing', map({ $_ =>
    'InvalidLengthOfSessionIdentifier' } 'a', 'abc', 'x' x 129, 'x' x 4000),
    map({ $_ => 'InvalidSessionIdentifier' } 'a%20bc', 'a+bc', 'ab%5Ccd',
        'caf%C3%A9s', 'abc%0A'));

is_error(ask('POST', '/executions', { code => 'out(1)' }, QUERY_STRING =>
    "api-version=1&identifier=$_"), 400, $id{$_}, 'the identifier "'
    . substr($_, 0, 20) . '"') for sort keys %id;
is_error(ask('GET', $_, undef, QUERY_STRING => 'api-version=1'), 400,
         'SessionIdentifierMissing', "$_ wants one, too")
    for '/session', '/files', '/files/a', '/executions/x';
is(ask('POST', '/executions', { code => 'out(1)' }, QUERY_STRING =>
    'api-version=1&identifier=' . 'x' x $_)->{status}, 200,
    "an identifier may have $_ characters") for 4, 128;
is_error(ask(@$_[0 .. 2], QUERY_STRING => 'identifier=user-42'), 400,
         'InvalidApiVersion', "$_->[1] wants an api-version")
    for ['POST', '/executions', { code => 'out(1)' }], ['GET', '/session'],
        ['GET', '/files'], ['GET', '/listSessions'], ['GET', '/metadata'];
is_error(ask('POST', '/executions', { code => 'out(1)' },
             HTTP_OPERATION_ID => $_), 400, 'InvalidOperationId',
         'no operation id') for 'a b', 'x' x 56, 'exec_n1_' . 'a' x 32, "a/b";

# bodies that make no sense

my %body = (
    'no body' => '', 'no JSON' => 'print(1)', 'a list' => '[]',
    'half an object' => '{"code":"x"', 'a key twice' =>
    '{"code":"a","code":"b"}', 'a key twice in another case' =>
    '{"code":"a","Code":"b"}', 'nothing to run' => '{}',
    'empty code' => '{"code":""}', 'code that is none' => '{"code":1}',
    'code that is null' => '{"code":null}',
    'properties that are none' => '{"properties":[]}',
    'empty properties' => '{"properties":{}}',
    'two things to run' => '{"code":"a","shellCommand":"b"}',
    'two commands' => '{"shellCommand":"a","execCommandAndArgs":["b"]}',
    'no words' => '{"execCommandAndArgs":[]}',
    'words that are none' => '{"execCommandAndArgs":[1]}',
    'a word with a NUL' => '{"execCommandAndArgs":["a\u0000b"]}',
    'an odd input' => '{"code":"a","codeInputType":"File"}',
    'an odd type' => '{"code":"a","executionType":"Later"}',
    'no base64' => '{"code":"a b","codeInputType":"InlineBase64"}',
    'base64 of no text' => '{"code":"/w==","codeInputType":"InlineBase64"}',
    'no time' => '{"code":"a","timeoutInSeconds":0}',
    'half a second' => '{"code":"a","timeoutInSeconds":0.5}',
    'time in words' => '{"code":"a","timeoutInSeconds":"60"}',
    'no output' => '{"code":"a","outputStreamsMaxLength":0}',
    'huge nesting' => '{"a":' . '[' x 100_000 . ']' x 100_000 . '}',
    'broken UTF-8' => "{\"code\":\"\xff\"}",
    'an old run that is to go on' => '{"properties":{"code":"a",'
        . '"executionType":"asynchronous"}}',
    'half a kernel' => '{"code":"a","useEmptyKernel":"yes"}',
);

is_error(ask('POST', '/executions', $body{$_}, CONTENT_TYPE =>
    'application/json'), 400, 'BadRequest', $_) for sort keys %body;
is_error(ask('POST', '/executions', 'code=x', CONTENT_TYPE => $_), 415,
         'UnsupportedMediaType', "a body of $_")
    for 'text/plain', 'application/x-www-form-urlencoded';
is_error(ask('POST', '/executions', '{"code":"' . 'x' x 1_000_000 . '"}'), 413,
         'RequestEntityTooLarge', 'a body that is too large');

# where nothing is

is_error(ask('GET', '/nothing'), 404, 'NotFound', 'no such path');
is_error(ask('PUT', '/executions', {}), 405, 'MethodNotAllowed', 'no PUT');
is(ask('PATCH', '/files', {})->{header}{allow}, 'GET, POST',
   'what is allowed is told, once each');
is_error(ask('GET', '/session', undef, QUERY_STRING =>
    'api-version=1&identifier=nobody'), 404, 'NoSessionFoundError',
    'a session that there is not');
is_error(ask('GET', '/executions/nothing'), 404, 'ExecutionNotFound',
         'an execution that there is not');
is_error(ask('GET', '/files/nothing'), 404, 'FileNotFound',
         'a file that there is not');

# no room

my $new = 'api-version=1&identifier=newcomer';
$f->{broker}->tell('spawn', 3);
my $r = ask('POST', '/executions', { code => 'out(1)' }, QUERY_STRING => $new);
is_error($r, 429, 'SessionsCountExceedsLimit', 'no room for a session');
is($r->{header}{'retry-after'}, 1, 'later there may be');
$r = ask('POST', '/executions', { code => 'out(1)' }, QUERY_STRING => $new,
         RETORT_AZURE_FULL => 404);
is_error($r, 404, 'SessionsCountExceedsLimit', 'which a location may call 404');
is($r->{header}{'retry-after'}, undef, 'that nobody repeats');
is_error(ask('GET', '/files', undef, QUERY_STRING => $new), 429,
         'SessionsCountExceedsLimit', 'the same for its files');
my $id = ask('POST', '/executions', { code => 'out(1)', executionType =>
    'Asynchronous' }, QUERY_STRING => $new)->{json}{id};
ok(wait_for(sub { $r = ask('GET', "/executions/$id", undef, QUERY_STRING =>
    $new)->{json}; ($r->{status} // '') eq 'Failed' }),
    'a run that would have gone on fails');
is($r->{error}{error}{code}, 'SessionsCountExceedsLimit', 'and says why');
is(ask('POST', '/executions', { code => 'out(1)' })->{status}, 200,
   'a session that there is goes on');
$f->{broker}->tell('spawn', 0);
is(ask('POST', '/executions', { code => 'out(1)' }, QUERY_STRING => $new)
   ->{status}, 200, 'until there is room');

done_front($f);
