#!/usr/bin/perl

# docs/packages.md is what the image's manifest says.
#
#   RETORT_WRITE=1 prove tests/kernel/packages.t    writes it anew

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Kernel;

my $image = Retort::Kernel::image()
    or plan skip_all => 'no sandbox image: run auto/image';
my $top = $Retort::Kernel::TOP;
my $recipe = "$top/sandbox-image/image";
my $page = "$top/docs/packages.md";


sub slurp {
    my ($path) = @_;
    open my $fh, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$fh>;
}


# the names in a list of packages, without its remarks

sub names { return slurp("$recipe/packages/$_[0].list") =~ /^([a-z0-9][^\s#]*)/mg }


# a Debian version without epoch, revision and the packager's additions

sub upstream { return $_[0] =~ s/^\d+://r =~ s/-[^-]*$//r =~ s/[+~].*//r }


my $manifest = slurp($image =~ s/root$/manifest/r);
my %version = $manifest =~ /^package (\S+) (\S+)$/mg;
my %module = $manifest =~ /^module (\S+) (\S+)$/mg;
my ($python) = $manifest =~ /^python (\S+)$/m;

sub table {
    return join '', map { "| `$_` | " . upstream($version{$_} // 'none') . " |\n" }
        sort map { names($_) } @_;
}

my @data = qw(science documents);
my $more = join ', ', map { s/^python3-//r } sort(names('more'));
my $tools = join ', ', sort(names('tools'));
my $text = slurp("$recipe/packages/more.list");
my ($missing) = $text =~ /Not in Debian 12: (.*?)\n[^#]/s;
$missing =~ s/\n# / /g;

my $want = <<"END";
# What is in a sandbox

Generated from the image's manifest; `tests/kernel/packages.t` compares it. What a running service has, with each
Debian package and Python module in its version, is told by `GET /v1/metadata`.

## The image `data`

Python $python, IPython $module{ipython}. Versions are those of Debian 12, with its security updates.

| Debian package | version |
|---|---|
@{[table(@data)]}
For bash: @{[join ', ', map { "`$_`" } sort(names('shell'))]}.

Fonts: DejaVu, and WenQuanYi Micro Hei for Chinese, Japanese and Korean, which matplotlib has behind every face; some
seventy names that code asks for (SimHei, Noto Sans CJK, Arial, Times New Roman, …) lead to one of them. Text is UTF-8 everywhere, time is UTC unless a run's
`env` has `TZ`.

## The image `full`

All of that, and for Python: $more.

For bash: $tools.

Not in Debian 12: $missing

Another image is made by `auto/image --profile NAME --packages FILE`, see
[sandbox-image/README.md](../sandbox-image/README.md).
END

if ($ENV{RETORT_WRITE}) {
    open my $fh, '>', $page or die "$page: $!\n";
    print $fh $want;
    close $fh or die "$page: $!\n";
}

is(slurp($page), $want, 'docs/packages.md is what the manifest says');
is_deeply([grep { !defined $version{$_} } map { names($_) } @data,
    qw(interpreter fonts shell)], [], 'every package of the recipe is there');

# and what the manifest says is what is there

my $kernel = Retort::Kernel->start;
my $code = "from importlib.metadata import version\n"
    . 'print(*[n for n, v in (' . join(', ', map { "('$_', '$module{$_}')" }
    sort keys %module) . ",) if version(n) != v], 'end')";
is_deeply(Retort::Kernel::brief($kernel->run($code)), ["1:end\n", 'ok'],
    'Python finds each module in that version');
is_deeply(Retort::Kernel::brief($kernel->run("import numpy, pandas, matplotlib\n"
    . "print(numpy.__version__, pandas.__version__, matplotlib.__version__)")),
    ["1:$module{numpy} $module{pandas} $module{matplotlib}\n", 'ok'],
    'and it is that');
$kernel->end;

# the recipe of the other image, without building it

for my $profile ('data', 'full') {
    like(qx($top/auto/image --profile $profile --simulate 2>&1),
        qr/: all packages are there, \d+ with what they need$/,
        "Debian has the packages of \"$profile\", and they fit together");
    is($?, 0, 'without an error');
}

require File::Temp;
my $own = File::Temp->new(TEMPLATE => 'packages-XXXXXX', TMPDIR => 1);
print $own "# mine\npython3-numpy\nno-such-package\n";
close $own;
like(qx($top/auto/image --profile mine --packages $own --simulate 2>&1),
    qr/not in Debian.*\n.*no-such-package/, 'a name that Debian has not is told');
isnt($?, 0, 'and is an error');
my %refused = (
    '--profile full --packages ' . $own => qr/packages of its own/,
    '--profile nothing' => qr/no profile "nothing"/,
    '--profile ../x --packages ' . $own => qr/is no name/,
    '--profile own' => qr/no profile "own"/,
    '--packages /nowhere' => qr/no file/,
    '--nonsense' => qr/usage/,
);
for my $args (sort keys %refused) {
    like(qx($top/auto/image $args --print 2>&1), $refused{$args},
        'refused: ' . $args =~ s/ \S*packages-\S+//r);
}

my %path = map { $_ => scalar qx($top/auto/image --profile $_ --print) }
    qw(data full);
is($path{data}, "$image\n", 'data is the one that is built unless said');
isnt($path{full}, $path{data}, 'full is another one');

done_testing();
