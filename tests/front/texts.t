#!/usr/bin/perl

# Results and exceptions that are longer than their budget: head and tail, and
# all of it as an artifact, byte by byte.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(sha256_hex);
use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

use constant BUDGET => 10_000;

my $f = Retort::Front->start(output => BUDGET, image => 400_000,
                             artifacts => 3);
my $store = "$f->{dir}/store";
my $j;

sub run { return $f->execute({ code => $_[0] })->{json} }

sub stored {
    my ($url) = @_;

    my ($file) = ($url // '') =~ m{/([0-9a-f]{32}\.txt)$};
    open my $in, '<:raw', "$store/" . ($file // 'none') or return 'no file';
    return join '', <$in>;
}

sub forms { return join ' ', map { "$_->{name} $_->{mime}" } @{$_[0]{forms}} }

# a result

$j = run('show(1, "text/plain", "r" x 10_000)');
is($j->{result}, 'r' x 10_000, 'a result within the budget is whole');
is("@{$j->{artifacts}}", '', 'and costs no file');

$j = run('show(1, "text/plain", join "", map { sprintf "%06d €\n", $_ } 1 .. 3000)');
my $want = join '', map { sprintf "%06d \xe2\x82\xac\n", $_ } 1 .. 3000;
my ($head, $mark, $tail) = $j->{result} =~ /\A(.*\n)(\[[^\n]+\n)(.*)\z/s;
utf8::encode($_) for $head, $tail;
my $cut = 33_000 - length($head) - length($tail);
is($mark, sprintf("[… %s of 33,000 bytes cut …]\n", $cut =~ s/(\d{3})$/,$1/r),
   'beyond it a line says how much is cut');
is($head, substr($want, 0, length $head), 'before it is the beginning,');
is($tail, substr($want, -length $tail), 'behind it the end,');
cmp_ok(length($head) + length($tail), '<=', BUDGET, 'no more than the budget');
cmp_ok(length($head) + length($tail), '>', BUDGET * 0.9, 'and most of it');
is(forms($j->{outputs}[0]), 'result-001.txt text/plain', 'all of it is a form');
is(stored($j->{outputs}[0]{forms}[0]{url}), $want, 'byte by byte');
my ($a) = @{$j->{artifacts}};
is("$a->{name} $a->{size} $a->{sha256}", 'result-001.txt 33000 '
   . sha256_hex($want), 'and an artifact');
like($j->{markdown}, qr/\n\n\[result-001\.txt\]\(\Q$a->{url}\E\)$/,
     'linked in the markdown');

$j = run('show(0, "text/plain", "x" x 8000); show(1, "text/plain", "y" x 5000)');
is($j->{outputs}[0]{text}, 'x' x 8000, 'all texts of a run share it:');
is($j->{result}, 'y' x 1500 . "\n[… 3,000 of 5,000 bytes cut …]\n" . 'y' x 500,
   'what is left is the second one\'s');
is(stored($j->{artifacts}[0]{url}), 'y' x 5000, 'who is whole in the store');

# an exception

$j = run('error("E", "m", "E: m", "t" x 5000); done(1)');
is(length $j->{error}{traceback}, 5000, 'an exception within it is whole');
is("@{$j->{artifacts}}", '', 'and costs no file');

my $code = 'my $m = join "\n", map { "line $_" } 1 .. 9000;
            error("ValueError", $m, "ValueError: $m\n",
                  "Traceback\n" . "  frame\n" x 4000 . "ValueError: $m\n");
            done(1)';
$j = run($code);
for my $key (qw(message traceback)) {
    like($j->{error}{$key}, qr/\n\[… [\d,]+ of [\d,]+ bytes cut …\]\n.*line 9000\s*\z/s,
         "$key: its end is there");
    cmp_ok(length $j->{error}{$key}, '<=', BUDGET, 'and it is short');
}
like($j->{error}{message}, qr/^line 1\n/, 'the message begins with its beginning');
like($j->{error}{traceback}, qr/^Traceback\n  frame\n/, 'so does the traceback');
is(stored($j->{artifacts}[0]{url}), "Traceback\n" . "  frame\n" x 4000
   . 'ValueError: ' . join("\n", map { "line $_" } 1 .. 9000) . "\n",
   'the whole traceback is in the store');
like($j->{markdown}, qr/\[… .*\[error-001\.txt\]\(\Q$j->{artifacts}[0]{url}\E\)$/s,
     'linked in the markdown');
is($j->{status}, 'error', 'and it is an error like others');

$j = run('show(0, "text/plain", "x" x 10_000);
          error("E", "why it failed", "E: why it failed\n", "tb\n"); done(1)');
is("$j->{error}{message}|$j->{error}{traceback}", "why it failed|tb\n",
   'what failed is told, however much was said before');

$j = run('say_(ERROR, 29_000_000, 1000, "E", "begin\n[cut]\nend", "E: b\n", "tb\n");
          done(1)');
is($j->{error}{message}, "begin\n[cut]\nend", 'what the kernel cut stays so');
is(stored($j->{artifacts}[0]{url}), "tb\n", 'and has its whole traceback');
$j = run('say_(ERROR, 29_000_000, 0, "E", "b" x 200_000, "E: b\n", "tb\n");
          done(1)');
like($j->{error}{message}, qr/\n\[… 29,\d+,\d+ of 29,200,000 bytes cut …\]\n/,
     'a second cut counts the first');

# what is larger than a file may be

$j = run('show(1, "text/plain", "r" x 500_000)');
like($j->{outputs}[0]{forms}[0]{not_stored}, qr/it has 500000 bytes, 400000/,
     'it is not stored, and why is said');
like($j->{result}, qr/^r+\n\[… [\d,]+ of 500,000 bytes cut …\]\n/, 'nor whole');
$j = run('show(0, "text/plain", $_ x 20_000) for 1 .. 5');
is(scalar @{$j->{artifacts}}, 3, 'a run has no more files for it than for others');

done_front($f);
