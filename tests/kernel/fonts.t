#!/usr/bin/perl

# Chinese, Japanese and Korean in plots, whatever face a style or a text asks
# for: two different characters look different, so neither is an empty box.

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

my $kernel = Retort::Kernel->start(imports => ['matplotlib.pyplot', 'seaborn']);


# all that comes of it, as one text
sub run { return join ' ', @{ Retort::Kernel::brief($kernel->run(encode('UTF-8', $_[0]))) } }

is(run(<<'END'), 'ok', 'a picture of a text, as numbers');
import io, warnings
import numpy as np, matplotlib.pyplot as plt, seaborn as sns
warnings.simplefilter('always')

def ink(text, form='png', **how):
    figure = plt.figure(figsize=(2, 1))
    figure.text(.2, .3, text, fontsize=30, **how)
    if form != 'png':
        out = io.BytesIO()
        figure.savefig(out, format=form, metadata={'Date': None}
                       if form == 'svg' else {'CreationDate': None})
        plt.close(figure)
        return out.getvalue()
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.renderer.buffer_rgba()).copy()
    plt.close(figure)
    return pixels

def differ(pairs=('汉字', 'かな', '가나', '價格', '衬线'), make='%s', **how):
    for pair in pairs:
        one, other = (ink(make % c, **how) for c in pair)
        assert (one < 128).any() and (one != other).any(), pair
END

for my $face ('sans-serif', 'serif', 'monospace', 'cursive', 'fantasy', 'DejaVu Sans',
    'DejaVu Serif', 'SimHei', 'SimSun', 'Microsoft YaHei', 'Noto Sans CJK JP', 'Malgun Gothic',
    'Arial', 'Times New Roman', 'Courier New', 'Helvetica', 'WenQuanYi Micro Hei')
{
    is(run("differ(family='$face')"), 'ok', "$face: each is there, without a warning");
}

is(run("differ(family=['Arial', 'serif'])"), 'ok', 'a list of faces');
is(run("differ(weight='bold', style='italic')"), 'ok', 'bold and italic');
is(run("differ(make='\$x^2\$ %s')"), 'ok', 'beside a formula');
is(run("differ(make='\$\\\\mathrm{%s}_1\$')"), 'ok', 'and in it');
is(run("differ(make='−5 %s αβ é')"), 'ok', 'beside other signs');

for my $style ('plt.style.use("ggplot")', 'sns.set_theme()', 'sns.set(font="SimHei")',
    'plt.rcdefaults()', 'plt.rcParams["font.family"] = "serif"', 'plt.style.use("bmh")')
{
    is(run("$style\ndiffer()"), 'ok', "after $style");
}

is(run(<<'END'), 'ok', 'in a PDF and an SVG as well');
for form in ('pdf', 'svg'):
    assert ink('汉', form) != ink('字', form)
END
like(run('ink(chr(0xE0FFF));'), qr/^2:.*Glyph \d+ .*missing/s, 'what no face has is still told');
$kernel->end;

done_testing();
