#!/usr/bin/perl

# Figures: once, in order, as PNG; and tables.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Encode qw(encode);
use Test::More;

use Retort::Kernel;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();


sub size {
    my ($png) = @_;
    return '' unless defined $png && $png =~ /^\x89PNG\r\n\x1a\n.{4}IHDR/s;
    return join 'x', unpack 'NN', substr $png, 16, 8;
}


sub forms { return map { $_->[2] } grep { $_->[0] eq 'display' } @{ $_[0] } }


my $kernel = Retort::Kernel->start(imports => ['matplotlib.pyplot', 'pandas']);
my $plot = "import matplotlib.pyplot as plt\n";

my $events = $kernel->run("${plot}plt.plot([1, 2]); plt.title('a');");
my ($form) = forms($events);
is_deeply(Retort::Kernel::brief($events),
    ['show(png):<Figure size 640x480 with 1 Axes>', 'ok'],
    'an open figure comes at the end');
like(size($form->{'image/png'}), qr/^5\d\dx4\d\d$/,
    'as a PNG of the inline backend\'s size');
cmp_ok(length $form->{'image/png'}, '>', 5000, 'with something in it');

is_deeply(Retort::Kernel::brief($kernel->run('1')), ['result:1', 'ok'],
    'and does not come again');

$events = $kernel->run(<<'END');
plt.plot([1]); plt.show()
print('between')
plt.plot([2]); plt.title('b')
'last'
END
is_deeply(Retort::Kernel::brief($events),
    ['show(png):<Figure size 640x480 with 1 Axes>', "1:between\n",
        "result:'last'", 'show(png):<Figure size 640x480 with 1 Axes>', 'ok'],
    'show() comes at once, the rest after the result');

$events = $kernel->run("for i in range(2):\n    plt.figure(); plt.plot([i])");
is(scalar forms($events), 2, 'two figures are two');

$events = $kernel->run("plt.plot([1])\n1/0");
is_deeply([map { s/:.*//sr } @{ Retort::Kernel::brief($events) }],
    ['error', 'show(png)', 'failed'], 'a figure before an error is shown');

$events = $kernel->run("plt.plot([1]); plt.savefig('a.png'); plt.close()");
is_deeply(Retort::Kernel::brief($events), ['ok'],
    'a figure that was closed is not shown');

$events = $kernel->run("f = plt.figure(figsize=(4, 2), dpi=50)\n"
    . "plt.plot([1]); plt.close()\nf");
is_deeply([map { s/:.*//sr } @{ Retort::Kernel::brief($events) }],
    ['result(png)', 'ok'], 'a figure as a result is a picture');

my $figure = '<Figure size 640x480 with 1 Axes>';
is_deeply(Retort::Kernel::brief($kernel->run(
    "f = plt.figure(); plt.plot([1]); display(f)\nprint('a')")),
    ["show(png):$figure", "1:a\n", 'ok'], 'a figure that was displayed is not '
    . 'shown again at the end');
is_deeply(Retort::Kernel::brief($kernel->run(
    "f = plt.figure(); plt.plot([1])\nf")), ["result(png):$figure", 'ok'],
    'nor one that is the result');
is_deeply(Retort::Kernel::brief($kernel->run(
    "f = plt.figure(); plt.plot([1]); display(f); plt.title('new')\nNone")),
    ["show(png):$figure", "show(png):$figure", 'ok'],
    'but one that was changed since then is');
$kernel->run('%config InlineBackend.close_figures = False');
$kernel->run("g = plt.figure(); plt.plot([1]); display(g)\nNone");
is_deeply(Retort::Kernel::brief($kernel->run(
    "print(plt.get_fignums() != [])\nplt.close('all')")), ["1:True\n", 'ok'],
    'figures that are to stay open do');
$kernel->run('%config InlineBackend.close_figures = True');

# pictures that are no figures

$events = $kernel->run("from PIL import Image\n"
    . "display(Image.new('L', (3, 2)))\nImage.new('RGB', (40, 30), 'red')");
is_deeply([map { size($_->{'image/png'}) } forms($events)], ['3x2', '40x30'],
    'PIL images are PNGs of their size');
($form) = forms($kernel->run("display({'image/jpeg': b'\\xff\\xd8\\xff', "
    . "'application/pdf': b'%PDF-1.4', 'text/plain': 'x'}, raw=True)"));
is_deeply($form, { 'image/jpeg' => "\xff\xd8\xff", 'text/plain' => 'x',
    'application/pdf' => '%PDF-1.4' }, 'JPEG and PDF keep their bytes');
($form) = forms($kernel->run("display({'application/vnd.vegalite.v4+json': "
    . "{'mark': 'bar'}, 'text/plain': 'c'}, raw=True)"));
is($form->{'application/json'}, '{"mark": "bar"}', 'a chart of altair is JSON');
($form) = forms($kernel->run("import sympy\nsympy.Symbol('x') ** 2"));
is($form->{'text/latex'}, '$\displaystyle x^{2}$', 'a formula is LaTeX');

$events = $kernel->run("%config InlineBackend.figure_formats = ['svg']\n"
    . 'plt.plot([1]);');
($form) = forms($events);
like($form->{'image/svg+xml'}, qr/^<\?xml.*<svg/s, 'SVG on request');
$kernel->run("%config InlineBackend.figure_formats = ['png']");

# a backend that shows nothing by itself

my $agg = "import matplotlib\nmatplotlib.use('Agg')\n";
my $once = ['show(png):<Figure size 640x480 with 1 Axes>', 'ok'];
is_deeply(Retort::Kernel::brief($kernel->run("${agg}plt.plot([1]); plt.show()")), $once,
    'with Agg a figure comes out as well');
is_deeply(Retort::Kernel::brief($kernel->run('x = 1')), ['ok'], 'once');
is_deeply(Retort::Kernel::brief($kernel->run('plt.title("t");')), $once,
    'again if it was changed');
is_deeply(Retort::Kernel::brief($kernel->run('plt.plot([2]); plt.savefig("a.png")')), ['ok'],
    'not if it was saved');
is_deeply(Retort::Kernel::brief($kernel->run("plt.close('all')\nplt.switch_backend("
    . "'module://matplotlib_inline.backend_inline')\nplt.plot([1]);")), $once,
    'and the inline backend is as it was');

# every glyph is there, whatever face a program asks for

my $labels = encode 'UTF-8', <<'END';
import warnings
warnings.simplefilter('error')
plt.rcParams['axes.unicode_minus'] = True
for name in (None, 'SimHei', 'Microsoft YaHei', 'Arial'):
    if name: plt.rcParams['font.family'] = 'sans-serif'
    if name: plt.rcParams['font.sans-serif'] = [name]
    plt.figure()
    plt.plot([-1, 0, 1], [-3, 2, -1])
    plt.title('价格 価格 가격 αβ −1')
    plt.show()
END
$events = $kernel->run($labels);
is(scalar(forms($events)), 4, 'Chinese, Japanese, Korean, Greek, minus: no '
    . 'glyph is missing') or diag explain Retort::Kernel::brief($events);
is($events->[-1][1], 0, 'and nothing warns');

if (my $path = $ENV{RETORT_FIGURE}) {
    my ($first) = forms($events);
    open my $fh, '>:raw', $path or die "$path: $!\n";
    print $fh $first->{'image/png'};
    close $fh or die "$path: $!\n";
}

$events = $kernel->run(<<'END');
import pandas as pd
pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})
END
($form) = forms($events);
is($form->{'text/plain'}, "   a  b\n0  1  x\n1  2  y", 'a table as text');
like($form->{'text/html'}, qr{<table.*<td>y</td>}s, 'and as HTML');

is_deeply(Retort::Kernel::brief($kernel->run('pd.Series([1]).plot();')),
    ['show(png):<Figure size 640x480 with 1 Axes>', 'ok'],
    'pandas plots are figures');
is_deeply(Retort::Kernel::brief($kernel->run(
    '!python3 -c "import matplotlib.pyplot as p; print(p.get_backend())"')),
    ["|1:agg\n", 'ok'], 'a program that a cell starts draws for itself');

is($kernel->end, 0, 'the kernel ends with its channel');

# matplotlib first seen in a session

$kernel = Retort::Kernel->start;
is_deeply(Retort::Kernel::brief($kernel->run("${plot}plt.plot([1]);")),
    ['show(png):<Figure size 640x480 with 1 Axes>', 'ok'],
    'without the import in the profile as well');
$kernel->end;
$kernel = Retort::Kernel->start;
is_deeply(Retort::Kernel::brief($kernel->run("${agg}${plot}plt.plot([1]);")), $once,
    'with Agg from the first line');
is($kernel->end, 0, 'the kernel ends with its channel');
done_testing();
