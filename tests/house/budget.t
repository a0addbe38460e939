#!/usr/bin/perl

# auto/budget counts code, not comments, and each of its gates closes.

use strict;
use warnings;

use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use FindBin;
use Test::More;

my $budget = "$FindBin::Bin/../../auto/budget";
my $dir = tempdir(CLEANUP => 1);

my $POWER = 'answers messages while it has power over others';
my $ROOT = 'root, before the first message';
my $INSIDE = 'in the new namespaces, answers nobody';


# exit code, and lines by set
sub budget {
    my (%files) = @_;
    my %sums;

    remove_tree($dir, { keep_root => 1 });

    for my $path (keys %files) {
        make_path("$dir/" . ($path =~ s{/[^/]+$}{}r));
        open(my $file, '>', "$dir/$path") or die $!;
        print $file $files{$path};
        close $file or die $!;
    }

    my $said = `\Q$budget\E $dir 2>&1`;
    my $code = $? >> 8;

    $sums{$2} = $1 while $said =~ /^ *(\d+)  ([a-z][^;\n]+); target/mg;

    return ($code, \%sums);
}


my $mixed = <<'C';

/*
 * a comment of
 * many lines
 */

#include <stdint.h>

static const char  text[] = "/* code */";   /* and a comment */
/* one */ int  x; /* two */

C

my ($code, $sums) = budget('helper/broker/a.c' => $mixed);
is($sums->{$POWER}, 3, 'blanks and comments are not counted, literals are');
is($code, 0, 'below the target the gate is open');

($code, $sums) = budget('helper/front/a.c' => "int  x;\n" x 5000,
    'helper/init/gen/a.c' => "int  x;\n" x 5000,
    'ngx_module/a.c' => "int  x;\n" x 5000);
is_deeply([$code, map { $sums->{$_} } $POWER, $ROOT, $INSIDE], [0, 0, 0, 0],
    'what holds no privilege is not counted');

my %where = (
    'helper/broker/b.c' => $POWER, 'helper/mapd/b.c' => $POWER,
    'helper/launch/b.c' => $POWER, 'helper/lib/b.h' => $POWER,
    'helper/init/template.c' => $POWER, 'helper/init/b.c' => $INSIDE,
    'helper/start/b.c' => $ROOT,
);

for my $path (sort keys %where) {
    ($code, $sums) = budget($path => "int  x;\n" x 10);
    is_deeply([grep { $sums->{$_} } sort keys %$sums], [$where{$path}],
        "$path is counted once, where it belongs");
}

($code) = budget('helper/broker/a.c' => "int  x;\n" x 1001,
    'helper/mapd/a.c' => "int  x;\n" x 999);
is($code, 0, '2,000 lines of power pass');
($code) = budget('helper/broker/a.c' => "int  x;\n" x 1001,
    'helper/mapd/a.c' => "int  x;\n" x 1000);
is($code, 1, '2,001 do not');
($code) = budget('helper/start/a.c' => "int  x;\n" x 1691);
is($code, 1, 'the gate of the start closes as well');
($code) = budget('helper/init/a.c' => "int  x;\n" x 701);
is($code, 1, 'and that of the seal');
($code) = budget('helper/docker/a.c' => "int  x;\n" x 1001,
    'helper/docker/inside/a.c' => "int  x;\n" x 1000);
is($code, 1, 'and that of what has to do with an engine');

is(system("\Q$budget\E >/dev/null"), 0, 'the tree itself is within its gates');

done_testing;
