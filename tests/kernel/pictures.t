#!/usr/bin/perl

# A figure is drawn once where matplotlib draws it twice, and looks the same.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Kernel;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel = Retort::Kernel->start(imports => ['matplotlib.pyplot', 'pandas']);

is_deeply(Retort::Kernel::brief($kernel->run(<<'END')), ['ok'], 'figures');
import io, numpy as np, pandas as pd, matplotlib.pyplot as plt
import IPython.core.pylabtools as tools, retort_figure, matplotlib.figure
plt.ioff()
drawn = 0
draw = matplotlib.figure.Figure.draw
def counted(*a, **k):
    global drawn
    drawn += 1
    return draw(*a, **k)
matplotlib.figure.Figure.draw = counted
def taken(function, make):
    global drawn
    np.random.seed(1)
    make(); drawn = 0
    image = plt.imread(io.BytesIO(function(plt.gcf()))); n = drawn
    left = [k for ax in plt.gcf().axes for axis in (ax.xaxis, ax.yaxis)
            for k in vars(axis) if k in ("_update_ticks", "_get_ticklabel_bboxes")]
    plt.close("all")
    return image, n, left
def alike(make):
    """How often each was drawn; is the size the same, how far are they apart?"""
    (a, n, _), (b, m, left) = [taken(f, make) for f in (
        retort_figure.drawn_twice, tools.print_figure)]
    if a.shape[:2] != b.shape[:2] or left:
        return f"{a.shape} {b.shape} {left}"
    def off(y, x, n=4):
        part = a[n + y:y - n or None, n + x:x - n or None, :3]
        return np.abs(part - b[n:-n, n:-n, :3]).mean()
    best = min((off(y, x), abs(y), abs(x))
               for y in range(-3, 4) for x in range(-3, 4))
    if max(best[1:]) > 1:
        return f"moved by {best}"
    alpha = np.abs(a[..., 3] - b[..., 3]).mean() if b.shape[2] == 4 \
        else 1 - a[..., 3].min()
    apart = np.abs(a[..., :3] - b[..., :3]).mean() + alpha
    return f"{n} {m} {'same' if apart == 0 else 'near' if apart < 0.04 else apart}"
END

for (
    ['line', 'plt.plot([1, 4, 2]); plt.title("a")'],
    ['frame', 'pd.DataFrame({"x": range(9), "y": range(9)}).plot(x="x", y="y")'],
    ['several axes', '[ax.plot([1, 3]) for ax in plt.subplots(2, 2)[1].flat]'],
    ['two scales', 'plt.plot([1, 2]); plt.twinx().plot([5, 1])'],
    ['logarithms', 'plt.loglog([1, 10, 100], [3, 5, 8])'],
    ['picture', 'plt.imshow(np.eye(9)); plt.colorbar()'],
    ['no axis', 'plt.imshow(np.eye(9)); plt.axis("off")'],
    ['pie', 'plt.pie([1, 2], labels=list("ab"))'],
    ['polar', 'plt.subplot(projection="polar").plot([1, 2])'],
    ['three dimensions', 'plt.figure().add_subplot(projection="3d").plot([1], [2], [3])'],
    ['transparent', 'plt.figure(facecolor="none"); plt.plot([1, 2])'],
    ['other dots', 'plt.figure(dpi=57); plt.plot([1, 2])'],
    ['something outside', 'plt.plot([1, 2], label="a"); plt.legend(bbox_to_anchor=(1.4, 1))',
        '2 3 same'],
    ['a layout', 'plt.subplots(layout="constrained")[1].plot([1])', '2 2 same'],
) {
    my ($name, $make, $want) = @$_;

    is_deeply(Retort::Kernel::brief($kernel->run("print(alike(lambda: [$make]))"
            =~ s/; /, /gr)), ['1:' . ($want // '2 1 near') . "\n", 'ok'], $name);
}

is_deeply(Retort::Kernel::brief($kernel->run(<<'END')),
class Broken(matplotlib.lines.Line2D):
    def draw(self, renderer):
        raise RuntimeError("cannot be drawn")
ax = plt.figure().add_subplot()
ax.add_line(Broken([0, 1], [0, 1]))
try:
    tools.print_figure(plt.gcf())
except RuntimeError as e:
    print(e)
plt.close("all")
END
    ["1:cannot be drawn\n", 'ok'], 'what cannot be drawn says why');

$kernel->run("plt.ion(); drawn = 0; _ = pd.DataFrame({'a': [1, 3]}).plot()");
is_deeply(Retort::Kernel::brief($kernel->run('print(drawn, plt.get_fignums())')), ["1:1 []\n", 'ok'],
    'one that a cell leaves open is drawn once, shown, and closed');

is($kernel->end, 0, 'the kernel ends with its channel');
done_testing();
