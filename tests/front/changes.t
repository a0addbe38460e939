#!/usr/bin/perl

# What a run did to files, as its kernel tells it, and files that it left.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(artifacts => 4, image => 1000);
my $id = $f->get('POST', '/sandboxes')->{json}{sandbox_id};
my $r;


sub here { $f->execute({ code => $_[0], sandbox_id => $id })->{json} }


sub names { [map { $_->{name} } @{ $_[0]{$_[1]} }] }


# ---- changes ----

$r = here('change(1, "a b.csv", 3, "\x01" x 32); change(2, "d/x.html", 5);'
          . ' change(3, "gone", 1)');
is_deeply($r->{files}, [
    { name => 'a b.csv', change => 'created', size => 3, sha256 => '01' x 32,
      mime => 'text/csv; charset=utf-8',
      url => "/v1/sandboxes/$id/files/a%20b.csv" },
    { name => 'd/x.html', change => 'changed', size => 5, sha256 => undef,
      mime => 'application/octet-stream',
      url => "/v1/sandboxes/$id/files/d/x.html" },
    { name => 'gone', change => 'deleted' }], 'changes are told, with links');
is($r->{files_truncated}, JSON::PP::false, 'all of them');
is_deeply(here('1')->{files}, [], 'none is an empty list');

$r = $f->execute({ code => 'change(1, "x", 1)' })->{json};
ok(!exists $r->{files}[0]{url}, 'no link into a sandbox that is gone');

$r = here('change(1, $_, 1) for "../x", "/x", "a\nb", "\xff", "", "ok"');
is_deeply(names($r, 'files'), ['ok'], 'names that are none are not told');
is($r->{files_truncated}, JSON::PP::true, 'which is');
$r = here('change(1, "f$_", 1) for 1 .. 300');
is(scalar @{ $r->{files} }, 256, 'the list is bounded');
is($r->{files_truncated}, JSON::PP::true, 'and says so');
is(here('change(0, "x", 1); change(9, "x", 1); say_(CHANGE, 1, 0, "x", "y");'
        . ' say_(CHANGE, 1, 0); out("on")')->{stdout}, 'on',
   'malformed ones are passed over');

# ---- what is wanted ----

is(here('out($want)')->{stdout}, '1000 4 0', 'pictures of a session are wanted');
is($f->execute({ code => 'out($want)' })->{json}{stdout}, '1000 4 1',
   'everything, if it cannot be fetched later');

# ---- files that were saved ----

my $png = "\x89PNG\r\n\x1a\n....";
$r = here('saved("sub/plot.png", "\x89PNG\r\n\x1a\n....");'
          . ' saved("r.csv", "a,b"); saved("tool.exe", "MZ")');
is_deeply(names($r, 'artifacts'), ['plot.png', 'r.csv', 'tool.exe'],
          'saved files are artifacts, by their last component');
is_deeply([map { $_->{type} } @{ $r->{outputs} }], [('file') x 3],
          'and outputs of their own');
is_deeply([map { $_->{mime} } @{ $r->{artifacts} }],
          ['image/png', 'text/csv', 'application/octet-stream'], 'typed');
like($r->{artifacts}[2]{url}, qr/\.bin$/, 'a type that nobody knows is .bin');
like($r->{markdown}, qr{^!\[plot\.png\]\(http://h/static/\w+\.png\)
                        \n\n\[r\.csv\]\(http://h/static/\w+\.csv\)}x,
     'pictures are shown, others linked');

my ($file) = $r->{artifacts}[0]{url} =~ m{([^/]+)$};
open my $fh, '<', "$f->{dir}/store/$file" or diag("$file: $!");
is(do { local $/; <$fh> }, $png, 'the store has the bytes');

$r = here('saved("a/same.csv", "1"); saved("b/same.csv", "2")');
is_deeply(names($r, 'artifacts'), ['same.csv', '2-same.csv'],
          'two of one name are told apart');
$r = here('saved("not.png", "text"); saved("x.svg", "<svg/>")');
is_deeply([map { $_->{mime} } @{ $r->{artifacts} }],
          ['application/octet-stream', 'image/svg+xml'],
          'what is not what its name says is anything');
unlike($r->{markdown}, qr/!\[/, 'neither is shown as a picture');

$r = here('saved("x](http://evil)[\n.txt", "x");'
          . ' saved("\xe4\xbb\xb7\xe2\x80\xae.txt", "x"); saved("n" x 600, "x");'
          . ' saved("a/..", "x")');
is_deeply([map { substr $_, 0, 30 } @{ names($r, 'artifacts') }],
          ['evil___.txt', "\x{4ef7}_.txt", 'n' x 30, '..'],
          'names are made harmless');
$r = here('saved("big.csv", "x" x 1001); saved("n$_", "x") for 1 .. 5');
is(scalar @{ $r->{artifacts} }, 4, 'their number is bounded');
like($r->{outputs}[0]{not_stored}, qr/1001 bytes, 1000 are allowed/,
     'so is their size, which is told');
like($r->{markdown}, qr/big\.csv was not stored: it has 1001/, 'in words, too');
like($r->{outputs}[-1]{not_stored}, qr/may store 4/, 'and so is the number');

# ---- Qwen's bytes are a contract ----

$r = $f->get('POST', '/code_interpreter',
             { timeout => 0, params => { code =>
                 'saved("p.png", "\x89PNG\r\n\x1a\n."); out("x")' } },
             RETORT_API => 'qwen');
is($r->{body}, "stdout:\n\n```\nx\n```", 'for Qwen a saved file is not linked')
    or diag(explain $r);

done_front($f);
