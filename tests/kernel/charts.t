#!/usr/bin/perl

# Figures and tables as data: the same numbers that were drawn.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Encode qw(encode);
use JSON::PP;
use Test::More;

use Retort::Kernel;

binmode(Test::More->builder->$_, ':utf8') for qw(output failure_output);

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel = Retort::Kernel->start(imports => ['matplotlib.pyplot', 'pandas']);
$kernel->run("import matplotlib.pyplot as plt, numpy as np, pandas as pd\n"
    . 'import datetime, sys');


# the data of a cell's displays

sub data {
    my ($kind, $code) = @_;
    my $events = $kernel->run(encode 'UTF-8', $code);
    my @raw = map { $_->[2]{"application/vnd.retort.$kind+json"} }
        grep { $_->[0] eq 'display' } @$events;
    return map { defined $_ ? JSON::PP->new->utf8->decode($_) : undef } @raw;
}


sub chart { return (data('chart', $_[0]))[0] }
sub frame { return (data('dataframe', $_[0]))[0] }


my $c = chart("plt.plot([1, 2, 3], [1.5, 4, float('nan')], label='a')\n"
    . "plt.plot([4, 5]); plt.axhline(2); plt.grid(); plt.title('T 标题')\n"
    . "plt.xlabel('time (s)'); plt.ylabel('mass [kg]'); plt.yscale('log')");
is($c->{type}, 'line', 'plot() is a line chart');
is($c->{title}, 'T 标题', 'with its title');
is_deeply([@$c{qw(x_label x_unit x_scale)}], ['time (s)', 's', 'linear'],
    'the x axis has label, unit and scale');
is_deeply([@$c{qw(y_label y_unit y_scale)}], ['mass [kg]', 'kg', 'log'],
    'the y axis as well');
is(scalar @{ $c->{x_ticks} }, scalar @{ $c->{x_tick_labels} },
    'each tick has its text');
is_deeply($c->{elements}, [
    { label => 'a', points => [[1, 1.5], [2, 4], [3, undef]] },
    { label => 'Line 1', points => [[0, 4], [1, 5]] },
], 'both lines have their points; a number that is none is null; '
    . 'helping lines are no data');
ok(!exists $c->{truncated}, 'and nothing was left out');

is_deeply(chart('plt.scatter([1, 2], [3, 4], label="d");')->{elements},
    [{ label => 'd', points => [[1, 3], [2, 4]] }], 'scatter() has its dots');
is(chart('plt.plot([1, 2], "o");')->{type}, 'scatter',
    'dots that no line joins are a scatter chart');

$c = chart('plt.bar(["a", "b"], [3, -5], label="g");');
is($c->{type}, 'bar', 'bar() is a bar chart');
is_deeply($c->{elements}, [{ label => 'a', value => 3, group => 'g' },
    { label => 'b', value => -5, group => 'g' }], 'with label, value, group');
$c = chart('plt.barh(["a"], [3]); plt.xlabel("n [m]");');
is("$c->{elements}[0]{label} $c->{elements}[0]{value} $c->{y_unit}", 'a 3 m',
    'bars that lie are read as if they stood');
$c = chart("x = np.arange(2)\nplt.bar(x - .2, [1, 2], .4, label='p')\n"
    . "plt.bar(x + .2, [3, 4], .4, label='q'); plt.xticks(x, ['u', 'v']);");
is_deeply([map { "$_->{group}$_->{label}$_->{value}" } @{ $c->{elements} }],
    [qw(pu1 pv2 qu3 qv4)], 'bars in groups find their labels');

$c = chart('plt.pie([1, 3], labels=["u", "v"]);');
is($c->{type}, 'pie', 'pie() is a pie chart');
is_deeply([map { [@$_{qw(label angle radius)}] } @{ $c->{elements} }],
    [['u', 90, 1], ['v', 270, 1]], 'with its angles');

my @five = qw(label min first_quartile median third_quartile max);
for my $how ('', ', vert=False', ', patch_artist=True, showmeans=True') {
    $c = chart("plt.boxplot([[1, 2, 3, 4, 20], [2, 3, 4, 5, 6]], "
        . "labels=['A', 'B']$how);");
    is_deeply([$c->{type}, map { [@$_{@five}, $_->{outliers}] }
        @{ $c->{elements} }], ['box_and_whisker', ['A', 1, 2, 3, 4, 4, [20]],
        ['B', 2, 3, 4, 5, 6, []]], "boxplot()$how has its five numbers");
}

$c = chart('plt.hist([1, 1, 2, 3, 3, 3.5], bins=[1, 2, 3, 4]);');
is_deeply([$c->{type}, map { [$_->{label}, $_->{value}] } @{ $c->{elements} }],
    ['bar', ['1 – 2', 2], ['2 – 3', 1], ['3 – 4', 3]],
    'hist() is a bar chart of intervals');

$c = chart('f, (a, b) = plt.subplots(1, 2); a.plot([1, 2]); b.bar(["x"], [2])'
    . '; a.set_title("A"); f.suptitle("both");');
is_deeply([@$c{qw(type title)}, map { [@$_{qw(type title)}] }
    @{ $c->{elements} }], ['superchart', 'both', ['line', 'A'], ['bar', '']],
    'subplots are charts in a superchart');

$c = chart('plt.plot([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)], '
    . '[1, 2]);');
is_deeply([$c->{x_scale}, $c->{x_ticks}[0], $c->{elements}[0]{points}],
    ['datetime', '2024-01-01T00:00:00', [['2024-01-01', 1],
    ['2024-01-02', 2]]], 'dates are dates');
$c = chart("pd.Series([1, 2], index=pd.date_range('2024-01', periods=2)).plot();");
is_deeply($c->{elements}[0]{points}, [['2024-01-01', 1], ['2024-01-02', 2]],
    'those of pandas too');
is_deeply(chart('plt.plot(["x", "y"], [1, 2]);')->{elements}[0]{points},
    [['x', 1], ['y', 2]], 'names are names');
is_deeply([@{ chart('plt.imshow(np.eye(3)); plt.colorbar();') }
    {qw(type elements)}], ['unknown', []], 'a kind that is not known says so');
is_deeply([data('chart', "1\n'a'")], [undef], 'other results have no chart');
is_deeply([data('chart', "%config InlineBackend.figure_formats = ['svg']\n"
    . 'plt.plot([1]);')]->[0]{type}, 'line', 'a figure as SVG has it as well');
$kernel->run("%config InlineBackend.figure_formats = ['png']");

# bounds

$c = chart('plt.plot(np.arange(1000001));');
my $points = $c->{elements}[0]{points};
cmp_ok(scalar @$points, '<=', 5000, 'a million points are thinned out');
is_deeply([$points->[0], $points->[-1], $c->{truncated}],
    [[0, 0], [1_000_000, 1_000_000], JSON::PP::true],
    'from the first to the last, and that is told');
$c = chart("for i in range(300): plt.plot(range(300), label='é' * 9999)");
cmp_ok(length encode('UTF-8', encode_json $c), '<', 600_000,
    'many lines with long names stay small');
is_deeply(Retort::Kernel::brief($kernel->run(
    "class Bad(list):\n    def __len__(self): raise MemoryError\n"
    . "plt.plot([1]); plt.gcf().axes[0].lines[0].get_xdata = Bad\nplt.show()")),
    ['show(png):<Figure size 640x480 with 1 Axes>', 'ok'],
    'a figure that cannot be read is a picture without data');

# tables

my $f = frame("pd.DataFrame({'i': [1, 2, None], 's': ['é', None, 'x'], "
    . "'t': pd.to_datetime(['2024-01-01', None, '2024-01-02 03:04:05']), "
    . "'b': [True, False, True], 'o': [2**70, [1], float('inf')]})");
is_deeply($f, { columns => [qw(i s t b o)], shape => [3, 5], index => [0, 1, 2],
    dtypes => [qw(float64 object datetime64[ns] bool object)],
    truncated => JSON::PP::false, rows => [
    [1, 'é', '2024-01-01T00:00:00', JSON::PP::true, '1180591620717411303424'],
    [2, undef, undef, JSON::PP::false, '[1]'],
    [undef, 'x', '2024-01-02T03:04:05', JSON::PP::true, undef]] },
    'a table has columns, types, rows; what is missing is null');
$f = frame('pd.DataFrame(np.zeros((500, 300)))');
is_deeply([$f->{shape}, scalar @{ $f->{rows} }, scalar @{ $f->{rows}[0] },
    $f->{truncated}], [[500, 300], 100, 100, JSON::PP::true],
    'a large one its first rows and columns, and its shape');
is_deeply([@{ frame("pd.Series([1.5], name='n', index=['k'])") }
    {qw(columns index rows)}], [['n'], ['k'], [[1.5]]], 'a series is a column');
is_deeply(frame("pd.DataFrame({'a': []})")->{rows}, [], 'an empty one is empty');
$f = frame("pd.DataFrame([['é' * 9999] * 100] * 100)");
cmp_ok(length encode('UTF-8', encode_json $f), '<', 600_000, 'long texts are cut');
is_deeply(Retort::Kernel::brief($kernel->run("class E:\n"
    . "    def __str__(self): 1/0\n    __repr__ = lambda self: 'E'\n"
    . "pd.DataFrame({'a': [E()]}, dtype=object).iloc[:0]"))->[-1], 'ok',
    'a cell\'s value that cannot be told breaks nothing');

is($kernel->end, 0, 'the kernel ends with its channel');

# what a cell without a figure pays

$kernel = Retort::Kernel->start;
is_deeply(Retort::Kernel::brief($kernel->run("import sys\n"
    . "[m for m in ('matplotlib', 'pandas', 'numpy') if m in sys.modules]")),
    ['result:[]', 'ok'], 'no library is loaded for it');
is($kernel->end, 0, 'the kernel ends with its channel');
done_testing();
