#!/usr/bin/perl

# Charts and tables as data: from a display to a key of its output.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(ready => 1);
my $types = 'my $c = "application/vnd.retort.chart+json";
             my $d = "application/vnd.retort.dataframe+json";';

my $r = $f->execute({ code => $types . 'show(0, $c,
    q({"type":"line","title":"\u00e9<&/","elements":[{"label":"a","points":
      [[1,2.5],["x",null]]}]}), "image/png", "\x89PNG\r\n\x1a\n");
    show(1, $d, q({"columns":["a"],"rows":[[9007199254740993]]}),
      "text/plain", "T")' });
my ($figure, $table) = @{$r->{json}{outputs}};
is_deeply($figure->{chart}, { type => 'line', title => "\x{e9}<&/",
    elements => [{ label => 'a', points => [[1, 2.5], ['x', undef]] }] },
    'a chart is a key of its picture');
is($figure->{type}, 'image', 'which is an image as before');
is_deeply($table->{dataframe}{rows}, [[9007199254740993]],
          'a table is a key of its result');
is($table->{text}, 'T', 'beside its text');
ok(!exists $figure->{dataframe} && !exists $table->{chart}
   && !exists $table->{forms}, 'and nothing else is made of it');
is(scalar @{$r->{json}{artifacts}}, 1, 'data are no files');

# what tenant code forges

my %forged = (
    'no JSON' => '{', 'a list' => '[1]', 'two objects' => '{}{}',
    'a key twice' => '{"a":1,"a":2}', 'deep nesting' => '{"a":'
        . ('[' x 40) . (']' x 40) . '}', 'no number' => '{"a":NaN}',
);

for my $what (sort keys %forged) {
    $r = $f->execute({ code => $types . 'show(1, "text/plain", "T", $c, '
                       . "\"\Q$forged{$what}\E\")" });
    is_deeply($r->{json}{outputs}, [{ type => 'result', text => 'T' }],
              "$what is left out, the rest stays");
}

$r = $f->execute({ code => $types . 'show(0, "text/plain", $_, $c,
    q({"a":") . ("x" x 40_000) . q("})) for 1 .. 30; out("end")' });
my @out = @{$r->{json}{outputs}};
is(scalar(grep { exists $_->{chart} } @out), 26,
   'a run\'s charts together are bounded');
is($out[-1]{text}, 'end', 'and nothing else suffers');
is($r->{json}{status}, 'ok', 'nor does the run');

done_front($f);
