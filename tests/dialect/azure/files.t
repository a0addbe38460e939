#!/usr/bin/perl

# Azure's dynamic sessions: files, in each shape, with the front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start;
my $old = '2024-02-02-preview';
my $r;


sub ask {
    my ($method, $path, %more) = @_;
    my $api = delete $more{api} // 'azure';
    my $query = 'api-version=' . (delete $more{version}
        // '2025-10-02-preview') . '&identifier=' . (delete $more{id}
        // 'user-42') . (delete $more{query} // '');
    my $res = $f->get($method, $path, delete $more{body}, RETORT_API => $api,
        SCRIPT_NAME => '/azure', QUERY_STRING => $query, %more);

    $res->{text} = $res->{body};
    $res->{text} =~ s/"(?:19|20)\d\d-[0-9T:.-]{22}Z"/"TIME"/g;

    return $res;
}

sub upload {
    my ($path, $name, $bytes, %more) = @_;
    return ask('POST', $path, CONTENT_TYPE =>
        'multipart/form-data; boundary=b', body => "--b\r\n"
        . "Content-Disposition: form-data; name=\"file\"; filename=\"$name\""
        . "\r\nContent-Type: text/plain\r\n\r\n$bytes\r\n--b--\r\n", %more);
}

my $a = '"name":"a.txt","directory":"","type":"file","contentType":'
    . '"text/plain; charset=utf-8","sizeInBytes":2,"lastModifiedAt":"TIME"';

# the newer shape

$r = upload('/files', 'a.txt', 'hi', id => 'new-session');
is("$r->{status} $r->{text}", "200 {$a}\n", 'an upload makes its session');
is(upload('/files', 'a.txt', 'hi')->{text}, "{$a}\n", 'and says what it is');
is(upload('/files', '/mnt/data/a.txt', 'hi')->{text}, "{$a}\n",
   'a path before the name is none');
is(ask('GET', '/files')->{text}, qq({"value":[{$a}],"nextLink":null}\n),
   'a list');
is(ask('GET', '/files/a.txt')->{text}, "{$a}\n", 'what is known of a file');
is(ask('GET', $_)->{body}, 'hi', "its bytes at $_")
    for '/files/a.txt/content', '/files/content/a.txt',
        '/files//mnt/data/a.txt/content';
upload('/files', 'b.txt', 'b', query => '&path=%2Fmnt%2Fdata%2Fsub%2F');
is(ask('GET', '/files/b.txt/content', query => '&path=sub')->{body}, 'b',
   'a path of the query is a folder');
is(ask('GET', '/files/b.txt/content', query => "&path=$_")->{body}, 'b',
   "however it ends: $_") for 'sub%2F', '%2Fmnt%2Fdata%2Fsub%2F%2F';
$r = ask('GET', '/files', query => '&recursive=true');
is_deeply([sort map { "$_->{directory}|$_->{name}" } @{$r->{json}{value}}],
          ['sub|b.txt', '|a.txt'], 'folders of files in a list of all');
is(ask('GET', '/files', query => '&recursive=true&path=sub')
   ->{json}{value}[0]{directory}, '', 'are relative to the one asked for');
$r = ask('DELETE', '/files/a.txt');
is("$r->{status}$r->{body}", '204', 'a file is deleted');
is(ask('GET', '/files/a.txt')->{json}{error}{code}, 'FileNotFound',
   'and is not found again');

# the older one

my $one = '"$id":"2","properties":{"$id":"3","filename":"c.txt","size":3,'
    . '"lastModifiedTime":"TIME","last_modified_time":"TIME"}';
is(upload('/files/upload', 'c.txt', 'ccc', id => 'old-1')->{text},
   qq({"\$id":"1","value":[{$one}]}\n), 'an upload, in the older shape');
is(ask('GET', '/files', id => 'old-1', version => $old)->{text},
   qq({"\$id":"1","value":[{$one}]}\n), 'a list');
is(ask('GET', '/files/content/c.txt', id => 'old-1', version => $old)
   ->{body}, 'ccc', 'the bytes');

# the image inside of a container

(my $here = $a) =~ s/"directory":""/"directory":"."/;
is(upload('/files', 'a.txt', 'hi', api => 'azure_image', id => 'img-1')
   ->{text}, "[{$here}]\n", 'the image answers an upload with a list');
is(ask('GET', '/files', api => 'azure_image', id => 'img-2')->{text},
   "[{$here}]\n", 'and has no other form for it');

# what is none

is(ask(@$_)->{json}{error}{code}, 'FilePathInvalid', "no path: @$_")
    for ['GET', '/files/..%2Fx/content', PATH_INFO => '/files/../x/content'],
        ['GET', '/files', query => '&path=..'],
        ['GET', '/files', query => '&path=' . 'x' x 2000],
        ['DELETE', '/files/a//b'], ['GET', '/files/' . 'x' x 1500];
is(upload('/files', '..', 'x')->{status}, 400, 'nor a name');
is(ask('POST', '/files', CONTENT_TYPE => 'application/json', body => '{}')
   ->{status}, 415, 'no other type of body');
is(ask('GET', '/files', query => '&recursive=maybe')->{status}, 400,
   'no other word for yes');

done_front($f);
