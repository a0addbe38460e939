#!/usr/bin/perl

# Files of a session over HTTP, against kernels that behave and kernels that
# do not.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(sha256_hex);
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(timeout => 3000);
my $id = $f->get('POST', '/sandboxes')->{json}{sandbox_id};
my $at = "/sandboxes/$id/files";
my $r;


sub cell { $f->execute({ code => $_[0], sandbox_id => $id }) }


sub ask {
    my ($method, $path, $body, %more) = @_;

    return $f->get($method, $path, $body,
                   CONTENT_TYPE => 'application/octet-stream', %more);
}


sub code { ($_[0]{json} // {})->{error}{code} // 'none' }


# ---- in and out ----

my $big = join '', map { pack 'N', $_ * 2654435761 % 2 ** 32 } 1 .. 50_000;

$r = ask('PUT', "$at/d/big.bin", $big);
is($r->{status}, 201, 'a file is written');
is_deeply([@{ $r->{json} }{qw(name size sha256)}],
          ['d/big.bin', 200_000, sha256_hex($big)],
          'what is answered is what was sent');
is($r->{json}{url}, "/v1$at/d/big.bin", 'with where it is');
is(ask('PUT', "$at/d/big.bin", $big)->{status}, 200, 'again: it is replaced');

$r = ask('GET', "$at/d/big.bin");
is($r->{status}, 200, 'it is there');
ok($r->{body} eq $big, 'byte for byte');
is($r->{header}{'content-length'}, 200_000, 'its length is told');
is($r->{header}{'content-type'}, 'application/octet-stream', 'and its type');
is($r->{header}{'x-content-type-options'}, 'nosniff', 'which is not guessed');

$r = ask('HEAD', "$at/d/big.bin");
is_deeply([$r->{status}, $r->{header}{'content-length'}, $r->{body}],
          [200, 200_000, ''], 'HEAD tells the same without it');

is(ask('PUT', "$at/empty", '')->{status}, 201, 'an empty file');
$r = ask('GET', "$at/empty");
is_deeply([@$r{qw(status body ended)}], [200, '', 1], 'is one');

ask('PUT', "$at/\xe4\xbb\xb7 \"x\".csv", 'a,b');
$r = ask('GET', "$at/\xe4\xbb\xb7 \"x\".csv");
is($r->{header}{'content-disposition'}, 'attachment; '
   . 'filename="___ _x_.csv"; filename*=UTF-8\'\'%E4%BB%B7%20%22x%22.csv',
   'a name in Chinese, with quotes, is encoded');
is($r->{header}{'content-type'}, 'text/csv; charset=utf-8', 'a type is known');
ask('PUT', "$at/x.html", '<script>');
is(ask('GET', "$at/x.html")->{header}{'content-type'},
   'application/octet-stream', 'but none that would run');

$r = ask('GET', $at);
is_deeply([map { "$_->{name} $_->{type} $_->{size}" } @{ $r->{json}{files} }],
          ['d/big.bin file 200000', 'empty file 0', 'x.html file 8',
           "\x{4ef7} \"x\".csv file 3"], 'a list has them all');
is($r->{json}{truncated}, JSON::PP::false, 'and is whole');

is(ask('DELETE', "$at/empty")->{status}, 204, 'a file is deleted');
is(ask('DELETE', "$at/empty")->{status}, 404, 'once');

# ---- whose, and called how ----

is(ask('GET', "$at/x.html", '', RETORT_WORKSPACE => 'other')->{status}, 404,
   'nothing of it is another workspace\'s');
is(code(ask('GET', "$at/nothing")), 'file_not_found', 'what is not there');
is(code(ask('GET', "$at/$_")), 'bad_name', s/\n/\\n/r . ' is no name')
    for '../x', 'a//b', 'a/./b', "a\nb", 'd/', 'x' x 300;
is(code(ask('PUT', "$at/a\x01b", 'x')), 'bad_name', 'nor with a control');
is(code(ask('GET', $at, '', QUERY_STRING => 'path=..%2fx')), 'bad_name',
   'a list stays below as well');
is(code(ask('GET', $at, '', QUERY_STRING => 'recursive=maybe')), 'bad_value',
   'a wrong value is an error');

# ---- limits ----

is(code(ask('PUT', "$at/full", $big)), 'disk_full', 'a full disk is told');
is(ask('PUT', "$at/full", $big)->{status}, 507, 'as 507');
is(code(ask('PUT', "$at/huge", 'x', CONTENT_LENGTH => 1e9)), 'too_large',
   'a file that is announced as too large is refused');
is(ask('GET', "$at/huge")->{status}, 404, 'and not begun');
is(ask('PUT', "$at/short", 'xy', CONTENT_LENGTH => 5)->{status}, 400,
   'a body that is shorter than announced is refused');
is(ask('GET', "$at/short")->{status}, 404, 'and not kept');

# ---- a client that goes away ----

my $c = $f->client;
my $p = $f->params('PUT', "$at/gone", CONTENT_LENGTH => 1_000_000);
$c->raw(Retort::FastCGI::begin(1, 0) . Retort::FastCGI::params(1, $p)
    . Retort::FastCGI::record(Retort::FastCGI::STDIN_, 1, 'x' x 60_000));
ok(wait_for(sub {
    $f->get('GET', "/sandboxes/$id")->{json}{status} eq 'running'
}), 'an upload holds its session');
$c->close;
is(ask('GET', "$at/gone")->{status}, 404, 'who goes away leaves nothing');

# ---- forms ----

my $form = sub {
    my $body = join '', (map { "--B\r\nContent-Disposition: form-data; "
        . "$_->[0]\r\n\r\n$_->[1]\r\n" } @_), "--B--\r\n";
    return ask('POST', $at, $body,
               CONTENT_TYPE => 'multipart/form-data; boundary=B');
};

$r = $form->(['name="file"; filename="/mnt/data/one.txt"', 'eins'],
             ['name="path"', 'sub/zwei.txt'],
             ['name="file"; filename="two.txt"', $big]);
is($r->{status}, 201, 'a form with two files');
is_deeply([map { "$_->{name} $_->{size}" } @{ $r->{json}{files} }],
          ['one.txt 4', 'sub/zwei.txt 200000'],
          'writes them: the name\'s end, or the path that is given');
ok(ask('GET', "$at/sub/zwei.txt")->{body} eq $big, 'whole');
is(code($form->(['name="file"; filename=".."', 'x'])), 'bad_name',
   'a form has no way out');
is(code($form->(['name="other"', 'x'])), 'unknown_key', 'nor other parts');
is(code($form->()), 'bad_value', 'one without a file is an error');
is(code(ask('POST', $at, 'x')), 'unsupported_type', 'and so is no form');

# ---- kernels that lie ----

cell('$v{on}{+LIST} = sub { entry($_, 1) for "../x", "/etc", "a\0b", "ok",'
     . ' "\xff", "x" x 2000; say_(ENTRY, 0, 0, "short", "x");'
     . ' entry("odd", 1, 9); filed() }');
is_deeply([map { $_->{name} } @{ ask('GET', $at)->{json}{files} }],
          ['ok'], 'names that are none are not passed on');
cell('$v{on}{+LIST} = sub { entry("f$_", 1) for 1 .. 1500; filed() }');
$r = ask('GET', $at);
is(scalar @{ $r->{json}{files} }, 1000, 'nor are too many');
is($r->{json}{truncated}, JSON::PP::true, 'which is told');

for my $lie (['more than announced', 'entry("", 5); bytes("123456"); filed()'],
             ['less than announced', 'entry("", 5); bytes("123"); filed()'],
             ['an error after the head', 'entry("", 5); bytes("123");'
              . ' filed(116)'])
{
    cell("\$v{on}{+GET} = sub { $lie->[1] }");
    $r = ask('GET', "$at/x");
    ok(!$r->{ended} || $r->{status} == 500, "$lie->[0]: cut, or an error")
        or diag(explain $r);
}

cell('$v{on}{+GET} = sub { entry("", 1 << 60); bytes("x" x 100) }');
is(code(ask('GET', "$at/x")), 'too_large', 'a size that cannot be is refused');
is(cell('out(1)')->{json}{status}, 'ok', 'its session has a new interpreter')
    or diag(explain cell('1'));

cell('$v{on}{+DELETE} = sub { raw("nonsense") }');
is(code(ask('DELETE', "$at/x")), 'sandbox_lost', 'nonsense is not answered to');
is(cell('out(2)')->{json}{stdout}, '2', 'and costs the interpreter, no more');

# ... or says something else again and again

my $said = "$f->{dir}/store/said";
cell('$v{on}{DELETE()} = sub { for (1 .. 100) { entry("x", 1); nap(0.1) }'
     . "open my \$x, '>', '$said' }");
ask('PUT', "$at/drip", 'x');
$r = ask('DELETE', "$at/drip");
is(code($r), 'sandbox_lost', 'a kernel that says something else is not listened to');
ok(!-e $said, 'to the end');

done_front($f);
