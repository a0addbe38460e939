#!/usr/bin/perl

# Anthropic's Files API, byte by byte, with the front alone: uploads, metadata,
# content, both shapes of lists, pages, ends.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start;
my @api = (RETORT_API => 'anthropic', SCRIPT_NAME => '/anthropic/v1',
           HTTP_ANTHROPIC_VERSION => '2023-06-01');
my @beta = (HTTP_ANTHROPIC_BETA => 'x, files-api-2025-04-14');
my $time = '\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z';
my $r;


sub ask {
    my ($method, $path, %more) = @_;
    (my $query = $path) =~ s/^[^?]*\??//;
    $path =~ s/\?.*//;
    return $f->get($method, $path, '', @api, QUERY_STRING => $query, %more);
}


# parts are [head lines, content]

sub form {
    my ($parts, %more) = @_;
    my $body = join('', map { "--B\r\n$_->[0]\r\n\r\n$_->[1]\r\n" } @$parts)
        . "--B--\r\n";
    return $f->get('POST', '/files', $body, @api,
                   CONTENT_TYPE => 'multipart/form-data; boundary=B', %more);
}

sub file_part {
    my ($name, $content, $type) = @_;
    my $file = defined $name ? qq(; filename="$name") : '';
    my $line = defined $type ? "\r\nContent-Type: $type" : '';
    return [qq(Content-Disposition: form-data; name="file"$file$line), $content];
}

sub field { ["Content-Disposition: form-data; name=\"$_[0]\"", $_[1]] }

sub upload { return form([file_part(@_)])->{json} }

sub error_is {
    my ($got, $status, $type, $message, $name, $code) = @_;
    my $details = defined $code ? { details => { error_code => $code } } : {};
    my $id = $got->{header}{'request-id'};
    is($got->{status}, $status, "$name: $status");
    like($id, qr/^req_[0-9a-f]{24}$/, "$name: the request has an id");
    is_deeply($got->{json}, { type => 'error', request_id => $id, error =>
        { type => $type, message => $message, %$details } }, "$name: $type");
}


# one file, from its upload to its end

$r = form([file_part('a b.csv', "x,y\n1,2\n", 'text/csv; charset=utf-8')]);
my $id = $r->{json}{id};
is($r->{status}, 200, 'a file is uploaded');
like($r->{header}{'request-id'}, qr/^req_[0-9a-f]{24}$/, 'under an id');
like($id, qr/^file_n1_[0-9a-f]{32}$/, 'and has one');
like($r->{body}, qr/^\{"type":"file","id":"$id","filename":"a\ b\.csv",
    "mime_type":"text\/csv","size_bytes":8,"created_at":"$time",
    "downloadable":false,"expires_at":null\}\n$/x, 'its object is exact');
is(ask('GET', "/files/$id")->{body}, $r->{body}, 'and stays so');
like(ask('GET', "/files/$id", @beta)->{body},
     qr/"downloadable":false,"scope":null\}\n$/, 'the beta had another');
error_is(ask('GET', "/files/$id/content"), 400, 'invalid_request_error',
         "File `$id` is not downloadable.", 'an upload is not given back',
         'file_not_downloadable');

# whose it is

for (['GET', ''], ['GET', '/content'], ['DELETE', '']) {
    error_is(ask($_->[0], "/files/$id$_->[1]", RETORT_WORKSPACE => 'other'),
             404, 'not_found_error', "File `$id` not found.",
             "$_->[0]$_->[1] by another workspace");
}

is_deeply(ask('GET', '/files', RETORT_WORKSPACE => 'other')->{json},
          { data => [], next_page => undef }, 'nor does its list have it');
is_deeply(ask('GET', '/files', RETORT_WORKSPACE => 'other', @beta)->{json},
          { data => [], has_more => JSON::PP::false, first_id => undef,
            last_id => undef }, 'nor does the older one');

$r = ask('DELETE', "/files/$id");
is("$r->{status} $r->{body}", qq(200 {"id":"$id","type":"file_deleted"}\n),
   'it is deleted');
error_is(ask('GET', "/files/$id"), 404, 'not_found_error',
         "File `$id` not found.", 'and gone');
error_is(ask('DELETE', "/files/$id"), 404, 'not_found_error',
         "File `$id` not found.", 'twice is once too often');

# names and types: what is sent, what is told

for (['C:\\\\x\\\\n.txt', undef, 'n.txt', 'text/plain'],
     ['/etc/p.json', undef, 'p.json', 'application/json'],
     ['x.bin', 'image/png', 'x.bin', 'image/png'],
     ['x.py', 'no type at all', 'x.py', 'text/plain'],
     ['x.py', "a/b\tc", 'x.py', 'a/b'],
     ['x', undef, 'x', 'application/octet-stream'],
     ['', 'text/csv', 'unnamed.csv', 'text/csv'],
     [undef, 'text/csv', 'unnamed.csv', 'text/csv'],
     [undef, undef, 'unnamed', 'application/octet-stream'],
     ["\xc3\xa9" x 255, undef, "\xc3\xa9" x 255, 'application/octet-stream'])
{
    my ($name, $type, @want) = @$_;
    $r = upload($name, 'x', $type);
    utf8::encode($r->{filename}) if defined $r->{filename};
    is_deeply([$r->{filename}, $r->{mime_type}], \@want,
              substr($want[0], 0, 20) . " is $want[1]");
}

for ('a<b', 'a>b', 'a:b', 'a|b', 'a?b', 'a*b', "a\tb", '..', '.', 'x' x 256,
     "\xff")
{
    error_is(form([file_part($_, 'x')]), 400, 'invalid_request_error',
             'filename: 1 to 255 characters, none of < > : " | ? * \\ / or '
             . 'control characters', 'the name ' . substr($_, 0, 9) =~ s/\W/_/gr);
}

# what is no upload

error_is(form([field('expires_in_seconds', 3600)]), 400,
         'invalid_request_error', 'file: Field required', 'no file');
error_is(form([file_part('a', 1), file_part('b', 2)]), 400,
         'invalid_request_error', 'file: only one is taken at a time', 'two');
error_is(form([file_part('a', 1), field('purpose', 'x')]), 400,
         'invalid_request_error', 'purpose: Extra inputs are not permitted',
         'a field too many');
error_is(form([file_part('a', 1), field('expires_in_seconds', $_)]), 400,
         'invalid_request_error', 'expires_in_seconds: Input should be a whole '
         . 'number from 3600 to 7776000', "a life of $_")
    for 3599, 7776001, '1e9', '-1', '', 'x';
error_is(form([file_part('a', 1), field('expires_in_seconds', 'x' x 64)]), 400,
         'invalid_request_error', 'expires_in_seconds: the value is too long',
         'a long one');
error_is($f->get('POST', '/files', '{}', @api), 400, 'invalid_request_error',
         'the body must be multipart/form-data', 'JSON');
error_is($f->get('POST', '/files', "--B\r\n", @api, CONTENT_TYPE =>
         'multipart/form-data; boundary=B'), 400, 'invalid_request_error',
         'multipart/form-data: the body ends before its last delimiter', 'half');
error_is(ask('GET', '/files', HTTP_ANTHROPIC_VERSION => ''), 400,
         'invalid_request_error', 'anthropic-version: header is required',
         'no version');
is(ask('GET', '/files', HTTP_ANTHROPIC_VERSION => $_)->{status}, 200,
   "the version $_ is served") for '2026-10-21', '2023-06-01', 'any';
error_is(ask('PUT', '/files'), 405, 'invalid_request_error',
         'allowed here: POST, GET', 'another method');
error_is(ask('GET', '/file'), 404, 'not_found_error', 'no such path',
         'another path');

# lists

ask('DELETE', "/files/$_->{id}")
    for @{ask('GET', '/files?limit=1000')->{json}{data}};

my @id = reverse map { upload("$_.txt", $_)->{id} } 1 .. 25;

sub ids { map { $_->{id} } @{$_[0]{json}{data}} }

$r = ask('GET', '/files');
is_deeply([ids($r)], [@id[0 .. 19]], 'twenty are listed, the newest first');
like($r->{json}{next_page}, qr/^page_[0-9a-f]{16}$/, 'with a cursor');
is_deeply([sort keys %{$r->{json}}], ['data', 'next_page'], 'and no more');
$r = ask('GET', "/files?page=$r->{json}{next_page}");
is_deeply([ids($r)], [@id[20 .. 24]], 'to the rest');
is($r->{json}{next_page}, undef, 'which is the last page');
$r = ask('GET', '/files?limit=25');
is(scalar(ids($r)), 25, 'a page is as large as is asked for');
is($r->{json}{next_page}, undef, 'and whole');
my $next = ask('GET', '/files?limit=3')->{json}{next_page};
ask('DELETE', "/files/$id[2]");
is_deeply([ids(ask('GET', "/files?limit=2&page=$next"))], [@id[3, 4]],
          'a page begins where the last one ended, whatever was deleted');
splice @id, 2, 1;

is_deeply([ids(ask('GET', "/files?ids[]=$id[3]&ids%5B%5D=$id[1]&ids[]=file_x"))],
          [@id[3, 1]], 'files are looked up by their ids');
is(ask('GET', "/files?ids[]=$id[3]")->{json}{next_page}, undef, 'in one page');

$r = ask('GET', '/files?limit=2', @beta);
is_deeply($r->{json}, { data => $r->{json}{data}, has_more => JSON::PP::true,
          first_id => $id[0], last_id => $id[1] }, 'the older form has ids');
$r = ask('GET', "/files?limit=30&after_id=$id[1]", @beta);
is_deeply([ids($r)], [@id[2 .. 23]], 'behind one');
is($r->{json}{has_more}, JSON::PP::false, 'is the rest');
$r = ask('GET', "/files?limit=2&before_id=$id[5]", @beta);
is_deeply([ids($r)], [@id[3, 4]], 'before one are those next to it');
is($r->{json}{has_more}, JSON::PP::true, 'and there are others');
is_deeply([ids(ask('GET', "/files?before_id=$id[1]&limit=2", @beta))], [$id[0]],
          'or not');

is_deeply(ask('GET', '/files?scope_id=session_1', @$_)->{json}{data}, [],
          'no file is of a session') for [], \@beta;
is_deeply([ids(ask('GET', '/files?' . join '&', map { "ids[]=$_" }
    ($id[3]) x 60, ($id[1]) x 60))], [@id[3, 1]], 'one that is asked for twice '
    . 'is one');

is_deeply([sort keys %{ask('GET', '/files', HTTP_ANTHROPIC_BETA => $_)->{json}}],
          ['data', 'next_page'], "\"$_\" is another beta")
    for 'code-execution-2025-08-25', 'files-api-2025-04-14x', 'files-api', '';

for my $bad (0, 1001, 'x', '-1', '99999999999999999999') {
    error_is(ask('GET', "/files?limit=$bad"), 400, 'invalid_request_error',
             'limit: Input should be a whole number from 1 to 1000',
             "a limit of $bad");
    error_is(ask('GET', "/files?page=page_$bad"), 400, 'invalid_request_error',
             'page: not a page of ours', "a page of $bad");
}

error_is(ask('GET', "/files?ids[]=$id[0]&limit=2"), 400,
         'invalid_request_error', 'ids excludes limit and page', 'both');
error_is(ask('GET', '/files?' . join '&', map { "ids[]=$_" } 1 .. 101), 400,
         'invalid_request_error', 'ids: at most 100', 'too many');
error_is(ask('GET', "/files?after_id=$id[0]&before_id=$id[1]", @beta), 400,
         'invalid_request_error', 'before_id and after_id exclude each other',
         'both directions');
error_is(ask('GET', '/files?after_id=file_x', @beta), 404, 'not_found_error',
         'File `file_x` not found.', 'an unknown cursor');

done_front($f);
