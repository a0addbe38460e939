#!/usr/bin/perl

# Streams that are longer than their budget: a head, a tail, and all of it as
# an artifact, byte by byte.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(sha256_hex);
use JSON::PP;
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

use constant { BUDGET => 10_000, QUOTA => 1_048_576 };

my $f = Retort::Front->start(output => BUDGET, image => 400_000,
                             artifacts => 2, quota => QUOTA);
my $store = "$f->{dir}/store";
my ($r, $j, @e);

sub run { return $f->execute({ code => $_[0] })->{json} }
sub all { opendir(my $d, $store); return grep { !/^\.(?:\.?|secret)$/ } readdir $d }

sub whole {
    my ($j) = @_;

    my ($file) = ($j->{truncated}{url} // '') =~ m{/([0-9a-f]{32}\.txt)$};
    open my $in, '<:raw', "$store/" . ($file // 'none') or return 'no file';
    return join '', <$in>;
}

# within the budget

$j = run('out("x" x 99 . "\n") for 1 .. 100;');
is($j->{stdout}, ('x' x 99 . "\n") x 100, 'what is within the budget is whole');
is($j->{truncated}, undef, 'and not cut');
is(scalar @{$j->{outputs}}, 1, 'nor in two');
is("@{[all()]}", '', 'and it costs no file');
$j = run('out("a" x 8000); err("b" x 1000); out("c" x 900)');
is($j->{stdout} . $j->{stderr}, 'a' x 8000 . 'c' x 900 . 'b' x 1000,
   'of both streams');
$j = run('out("a" x 8000); show(0, "text/plain", "d"); out("b" x 1000);
          error("E", "e", "f", "g"); done(1)');
is(join(' ', map { $_->{type} } @{$j->{outputs}}),
   'stdout stdout display stdout error', 'with what is in between in its place');

# beyond

$j = run('out(sprintf "%06d €\n", $_) for 1 .. 3000; err("end\n")');
my $want = join '', map { sprintf "%06d \xe2\x82\xac\n", $_ } 1 .. 3000;
is(whole($j), $want . "end\n", 'the artifact is byte by byte what was written');
my ($head, $mark, $tail) = $j->{stdout} =~ /\A(.*\n)(\[[^\n]+\n)(.*)\z/s;
like($mark, qr/^\[… [\d,]+ of 33,004 bytes cut …\]$/, 'a line says what is cut');
utf8::encode($_) for $head, $tail;
is($head, substr($want, 0, length $head), 'before it is the beginning,');
is($tail, substr($want, -length $tail), 'behind it the end,');
like($tail, qr/^\d{6} /, 'which begins with a line');
is($j->{truncated}{kept_bytes}, length($head) + length($tail) + 4,
   'kept_bytes is what is here');
cmp_ok($j->{truncated}{kept_bytes}, '<=', BUDGET, 'no more than the budget');
cmp_ok($j->{truncated}{kept_bytes}, '>', BUDGET * 0.9, 'and most of it');
is($j->{truncated}{total_bytes}, 33_004, 'total_bytes what there was');
my ($a) = @{$j->{artifacts}};
is("$a->{name} $a->{mime} $a->{size} $a->{sha256}", 'output.txt text/plain 33004 '
   . sha256_hex(whole($j)), 'it is an artifact like others');
like($j->{markdown}, qr/\n\n\[output\.txt\]\(\Q$j->{truncated}{url}\E\)$/,
     'linked in the markdown');

$j = run('fd1(pack("C*", map { $_ * 7 % 256 } 0 .. 4095)) for 1 .. 20');
is(whole($j), pack('C*', map { $_ * 7 % 256 } 0 .. 4095) x 20, 'of any bytes');
$j = run('for (1 .. 100) { fd1("o" x 300); sync(); fd2("e" x 300); sync() }');
is(whole($j), ('o' x 300 . 'e' x 300) x 100, 'both streams as they came');
$j = run('out("z" x 350_000)');
is(whole($j), 'z' x 350_000, 'in one message, too');

# the text of Qwen's tool

my $text = $f->get(POST => '/code_interpreter', { timeout => 0, params =>
    { code => 'out("q" x 99 . "\n") for 1 .. 200' } }, RETORT_API => 'qwen')->{body};
utf8::decode($text);
like($text, qr/^stdout:\n\n```\n(?:q+\n)+\n```\n\nstdout:\n\n```\n\[…\ [\d,]+\ of\ 20,000
     \ bytes\ cut\ …\]\n(?:q+\n)+\n```\n\n\[output\.txt\]\(\S+\.txt\)$/x,
     'the tool\'s text has head, tail and link as well');

# no artifact, and why

my $files = all();
$j = run('out("x" x 500_000)');
is($j->{truncated}{not_stored}, 'it has more than 400000 bytes',
   'what is larger than a file may be is not stored');
ok(!exists $j->{truncated}{url}, 'and has no link');
like($j->{markdown}, qr/output\.txt was not stored: it has more/,
     'the markdown says so');
$j = run('show(0, "text/html", $_) for 1 .. 2; out("x" x 50_000)');
like($j->{truncated}{not_stored}, qr/a run may store 2 files/,
     'it counts as one of the files of a run');
is($files + 2, scalar(all()), 'nothing is left of either');

for my $i (1 .. 3) {
    $j = run("out('$i' x 390_000)");
}

like($j->{truncated}{not_stored}, qr/store is full/, 'it is in the quota');
ok(!(grep { /part/ } all()), 'and nothing half-written is left');

# a reader of events

$r = $f->execute({ code => 'out("h\n" x 3750); show(0, "text/plain", "d");
                            out("m" x 20_000); out("\nlast")' },
                 HTTP_ACCEPT => 'application/x-ndjson');
@e = map { decode_json($_) } grep { /\S/ } split /\n/, $r->{body};
is(join(' ', map { $_->{type} } @e), 'status stdout display stdout status',
   'the head, what was shown, the tail when it is over');
like($e[3]{text}, qr/^\[… 20,001 of 27,505 bytes cut …\]\nlast$/,
     'with the line before it');

done_front($f);
