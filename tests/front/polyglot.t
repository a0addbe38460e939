#!/usr/bin/perl

# Pictures that are something else as well, and names that want to be paths:
# what is stored has a name and a type of ours, or is not stored.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(image => 1_000_000, artifacts => 64);
my $store = "$f->{dir}/store";
my ($r, $a);

sub show { return $f->execute({ code => $_[0] })->{json} }

my $script = '<script>alert(1)</script>';
my %poly = (
    'a GIF that is a script' => ['image/gif', 'GIF89a=1;alert(1)//', 'gif'],
    'a JPEG that is a page' => ['image/jpeg', "\xff\xd8\xff\xfe\0\x40<html>$script", 'jpg'],
    'a PNG that is a page' => ['image/png', "\x89PNG\r\n\x1a\n\0\0\0\x20tEXt$script", 'png'],
    'a PNG that is an archive' => ['image/png', "\x89PNG\r\n\x1a\nPK\3\4PK\5\6" . "\0" x 18, 'png'],
    'a picture of 100,000 by 100,000' => ['image/png', "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"
        . pack('NNC5N', 100_000, 100_000, 8, 6, 0, 0, 0, 0), 'png'],
    'a PDF that is a program' => ['application/pdf', "%PDF-1.4\n#!/bin/sh\nid\n", 'pdf'],
);

for my $what (sort keys %poly) {
    my ($mime, $bytes, $ext) = @{ $poly{$what} };
    my $hex = unpack 'H*', $bytes;

    $r = show("show(0, '$mime', pack 'H*', '$hex')");
    $a = $r->{artifacts}[0];
    is($a->{mime}, $mime, "$what is stored as what it begins as");
    like($a->{url}, qr{^http://h/static/[0-9a-f]{32}\.$ext$}, '... by a name of ours');
    is(-s "$store/" . $a->{url} =~ s{.*/}{}r, length $bytes, '... not decoded, not changed');
}

# what does not begin as it says

for my $row (['image/png', "GIF89a$script"], ['image/png', $script], ['image/gif', 'GIF'],
    ['image/jpeg', "\xff\xd8"], ['image/webp', $script], ['application/pdf', " %PDF-1.4"],
    ['image/png', "\xef\xbb\xbf\x89PNG\r\n\x1a\n"])
{
    my $hex = unpack 'H*', $row->[1];

    $r = show("show(0, '$row->[0]', pack 'H*', '$hex')");
    is_deeply($r->{artifacts}, [], "$row->[0] that begins with " . substr($hex, 0, 12)
        . ' is not stored');
}

# types that want to be paths, headers or other types

for my $mime ('image/../../etc/cron.d/x', '../png', 'image/png; charset=x', "image/png\r\nx: y",
    'IMAGE/PNG', 'image/png/', '/image/png', 'image\\png', "image/png\0", 'application/x-sh',
    'application/javascript', 'text/javascript', 'application/xhtml+xml', 'application/octet-stream',
    'multipart/mixed', '', 'x' x 200, "\xe2\x80\xaeimage/png")
{
    my $hex = unpack 'H*', $mime;

    $r = show("show(0, pack('H*', '$hex'), \"\\x89PNG\\r\\n\\x1a\\nx\")");
    is_deeply($r->{artifacts}, [], 'a type that is none stores nothing: '
        . substr($mime =~ s/[^ -~]/?/gr, 0, 30));
}

# results that are not the kernel's to tell

for my $text ('{"status":"oom"}', "\r\nHTTP/1.1 200 OK\r\n\r\n", '--boundary--', "data: x\n\nevent: done\n\n",
    '{"jsonrpc":"2.0","id":1,"result":{}}', "HELD q 113 0 32", "Status: 500\r\n\r\n")
{
    my $hex = unpack 'H*', $text;

    $r = show("fd1(pack 'H*', '$hex')");
    is($r->{stdout}, $text, 'text of a stream stays text: ' . substr($text =~ s/[^ -~]/?/gr, 0, 20));
    is($r->{status}, 'ok', '... and says nothing of the run');
}

# frames without end

for my $frame ('say_(107, 0, 4294967295)', 'say_(113, 9, 9)', 'show(0)', 'sync()',
    'error("x", "y", "z", "w")', 'say_(109, 0, 0, "image/png", "x")')
{
    $r = $f->execute({ code => "while (1) { $frame }", timeout => 0.4 });
    like($r->{json}{status} // 'none', qr/^(?:timeout|killed|ok|error)$/,
        "$frame for ever ends: " . ($r->{json}{status} // 'none'));
}

opendir(my $d, $store);
is_deeply([grep { !/^(?:\.\.?|\.secret|[0-9a-f]{32}\.(?:png|jpg|gif|pdf))$/ } readdir $d], [],
    'there is no file in the store with a name that is not ours');
is($f->execute({ code => 'out("fine")' })->{json}{stdout}, 'fine', 'the next run is fine');

done_front($f);
