#!/usr/bin/perl

# auto/budget counts code, not comments, and its gate closes.

use strict;
use warnings;

use File::Path qw(make_path);
use File::Temp qw(tempdir);
use FindBin;
use Test::More;

my $budget = "$FindBin::Bin/../../auto/budget";
my $dir = tempdir(CLEANUP => 1);


sub budget {
    my (%files) = @_;

    for my $path (keys %files) {
        make_path("$dir/" . ($path =~ s{/[^/]+$}{}r));
        open(my $file, '>', "$dir/$path") or die $!;
        print $file $files{$path};
        close $file or die $!;
    }

    my $said = `\Q$budget\E $dir 2>&1`;

    return ($? >> 8, $said =~ /^ *(\d+)  privileged code lines/m ? $1 : -1,
            $said);
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

my ($code, $lines, $said) = budget('helper/broker/a.c' => $mixed);
is($lines, 3, 'blanks and comments are not counted, literals are');
is($code, 0, 'below the target the gate is open');

($code, $lines) = budget('helper/front/a.c' => "int  x;\n" x 5000,
                         'helper/init/gen/a.c' => "int  x;\n" x 5000,
                         'ngx_module/a.c' => "int  x;\n" x 5000);
is("$code $lines", '0 3', 'what holds no privilege is not counted');

my $sum = 3;

for my $part (qw(start broker mapd launch init lib)) {
    (undef, $lines) = budget("helper/$part/b.c" => "int  x;\n" x 10,
                             "helper/$part/b.h" => "int  x;\n" x 5);
    $sum += 15;
    is($lines, $sum, "helper/$part is counted, headers too");
}

($code, $lines) = budget('helper/lib/c.c' => "int  x;\n" x (2000 - $sum));
is("$code $lines", '0 2000', '2000 lines pass');

($code, $lines, $said) = budget('helper/lib/d.c' => "int  x;\n");
is("$code $lines", '1 2001', '2001 lines do not');
like($said, qr/TOO MUCH/, 'and it says so');

my @said = `\Q$budget\E 2>&1`;
is($?, 0, 'the project passes') or diag @said;

done_testing();
