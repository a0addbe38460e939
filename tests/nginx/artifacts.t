#!/usr/bin/perl

# What code in a sandbox has made, served by nginx itself.

use strict;
use warnings;

use JSON::PP;
use POSIX qw(mkfifo);
use Test::More;

use Retort::Nginx;

my $ng = Retort::Nginx->new(<<'EOC');
%%MAIN%%
http {
    %%HTTP%%
    sendfile on;
    default_type text/html;
    server {
        listen 127.0.0.1:%%PORT%%;
        location /static/ { retort_artifacts %%DIR%%/static/; }
        location /linked { retort_artifacts link; }
        location /cached/ {
            retort_artifacts %%DIR%%/static;
            open_file_cache max=100;
        }
        location / { retort_artifacts %%DIR%%/static; }
    }
}
EOC

my $dir = $ng->dir . '/static';
my $id = '0123456789abcdef' x 2;

mkdir $dir;
mkdir "$dir/sub";
symlink $dir, $ng->dir . '/link';

my %type = (
    png => 'image/png', jpg => 'image/jpeg', jpeg => 'image/jpeg',
    gif => 'image/gif', webp => 'image/webp', json => 'application/json',
    csv => 'text/csv; charset=utf-8', txt => 'text/plain; charset=utf-8',
    pdf => 'application/pdf',
    map { $_ => 'application/octet-stream' }
        qw(svg html htm js xml xhtml bin a 12345678)
);

for (keys %type) { $ng->write("static/$id.$_", "content of $_") }

$ng->start;

for my $ext (sort keys %type) {
    my $res = $ng->get("/static/$id.$ext");

    is_deeply [$res->{status}, $res->{header}{'content-type'}, $res->{body}],
        [200, $type{$ext}, "content of $ext"], "$ext is $type{$ext}";

    is $res->{header}{'content-disposition'},
        $type{$ext} =~ /octet-stream|pdf/ ? 'attachment' : undef,
        'and saved or shown';
}

my $res = $ng->get("/static/$id.png");
my %line = (
    'x-content-type-options' => 'nosniff',
    'content-security-policy' =>
        "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    'cross-origin-resource-policy' => 'cross-origin',
    'referrer-policy' => 'no-referrer',
    'cache-control' => 'private, max-age=86400, immutable',
    'accept-ranges' => 'bytes', 'content-length' => 14,
);

is $res->{header}{$_}, $line{$_}, "$_ is $line{$_}" for sort keys %line;
like $res->{header}{etag}, qr/^"[0-9a-f]+-e"$/, 'there is an entity tag';
like $res->{header}{'last-modified'}, qr/GMT$/, 'and a date';

my $etag = $res->{header}{etag};
my $date = $res->{header}{'last-modified'};

is $ng->get("/static/$id.png", 'If-None-Match' => $etag)->{status}, 304,
    'a known tag is not sent again';
is $ng->get("/static/$id.png", 'If-Modified-Since' => $date)->{status}, 304,
    'nor is a known date';

$res = $ng->get("/static/$id.png", Range => 'bytes=3-6');
is_deeply [@$res{qw(status body)}, $res->{header}{'content-range'}],
    [206, 'tent', 'bytes 3-6/14'], 'a range is served';

$res = $ng->get("/static/$id.png", Range => 'bytes=99-');
is_deeply [$res->{status}, $res->{header}{'content-range'}],
    [416, 'bytes */14'], 'or refused';

$res = $ng->request('HEAD', "/static/$id.png", {});
is_deeply [@$res{qw(status body)}, $res->{header}{'content-length'}],
    [200, '', 14], 'HEAD has everything but the body';

for my $method (qw(POST PUT DELETE PATCH OPTIONS)) {
    $res = $ng->request($method, "/static/$id.png", {}, 'x');
    is_deeply [$res->{status}, $res->{header}{allow}], [405, 'GET, HEAD'],
        "$method is not allowed";
    is decode_json($res->{body})->{error}{code}, 'method_not_allowed',
        'in JSON';
}

is $ng->get("/static/$id.png", 'Content-Length' => undef)->{status}, 200,
    'and after that the file is there';
is $ng->get("$_/$id.png")->{status}, 200, "also under $_"
    for '', '/linked', '/cached', '/cached';

$ng->write("static/$id.empty", '');
$res = $ng->get("/static/$id.empty");
is_deeply [@$res{qw(status body)}, $res->{header}{'content-length'}],
    [200, '', 0], 'an empty file is empty';

my $big = join '', map { chr($_ & 255) } 0 .. 3_000_000;
$ng->write("static/$id.big", $big);
ok $ng->get("/static/$id.big")->{body} eq $big, 'a large one is whole';

# everything else is not there, all alike

$ng->write('secret.txt', 'secret');
$ng->write("static/$_", 'secret') for 'name.txt', "$id", "$id.", "$id.TXT",
    "$id.txt.gz", ".$id.txt", 'A' x 32 . '.txt', "$id.123456789", "x$id.txt",
    "sub/$id.txt", substr($id, 1) . '.txt', "g" . substr($id, 1) . '.txt';

symlink $ng->dir . '/secret.txt', "$dir/" . 'a' x 32 . '.txt';
symlink "$id.txt", "$dir/" . 'b' x 32 . '.txt';
mkfifo("$dir/" . 'c' x 32 . '.txt', 0600);
mkdir "$dir/" . 'd' x 32 . '.txt';

for my $name ('name.txt', $id, "$id.", "$id.TXT", "$id.txt.gz", ".$id.txt",
    'A' x 32 . '.txt', "$id.123456789", "x$id.txt", "sub/$id.txt",
    substr($id, 1) . '.txt', 'g' . substr($id, 1) . '.txt',
    (map { $_ x 32 . '.txt' } 'a' .. 'e'), '', '..', '../secret.txt',
    '%2e%2e/secret.txt', '..%2fsecret.txt', "sub/../../secret.txt",
    "$id.txt/", "$id.txt%00", "$id.txt/x", "sub%2f$id.txt", "$id.txt%20",
    "/$id.txt/../../secret.txt", '%5c' . "$id.txt", "$id%2etxt/")
{
    for my $prefix ('/static/', '/cached/') {
        my $res = $ng->get("$prefix$name");
        ok $res->{status} =~ /^40[04]$/ && $res->{body} !~ /secret/,
            "$prefix$name is not there";
    }
}

my @body = map { $ng->get("/static/$_")->{body} }
    'f' x 32 . '.txt', 'a' x 32 . '.txt', 'd' x 32 . '.txt', 'name.txt';
is scalar(grep { $_ ne $body[0] } @body), 0, 'a client cannot tell them apart';
is decode_json($body[0])->{error}{code}, 'not_found', 'in JSON';

$ng->finish;
done_testing;
