#!/usr/bin/perl

# Each rule of auto/style fires on a bad sample, and the project passes.

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use FindBin;
use Test::More;

my $style = "$FindBin::Bin/../../auto/style";
my $good = <<'C';

/* opens with a comment */

#include <stdint.h>


typedef struct {
    int  a;
} one_t;


/*
 * Declared here, so that it reads like ours.
 */

static int
one(int a, void (*f)(int, int), const one_t *b)
{
    char        text[] = "// if (x) return; strcpy(a, b)";
    const int   table[2][2] = {
        { 1, 2 },
        { 3, 4 },
    };

    /* for (;;) sprintf() // stays a comment */

    (void) sscanf(text, "%*s %15s %d", text, &a);

    do {
        a--;
    } while (a > 0);

    if (a) {
        f(text[0], table[0][0]);

    } else if (b->a) {
        return 1;

    } else {
        return 2;
    }

    return 0;
}


#if (SOMETHING)

static void __attribute__((format(printf, 1, 2)))
two(const char *fmt, ...)
{
    /* void */
}

#endif


int
main(void)
{
    return one(1, NULL, NULL);
}
C


# writes files into a new directory, runs the checker; its lines and its code

sub style {
    my (%files) = @_;

    my $dir = tempdir(CLEANUP => 1);

    for my $name (keys %files) {
        my ($text, $mode) = ref $files{$name} ? @{ $files{$name} }
                            : ($files{$name}, 0644);

        make_path(dirname("$dir/$name"));
        open(my $file, '>', "$dir/$name") or die $!;
        print $file $text;
        close $file or die $!;
        chmod $mode, "$dir/$name" or die $!;
    }

    my @said = `\Q$style\E $dir 2>&1`;
    my $code = $? >> 8;
    chomp @said;

    return ($code, @said);
}


sub fires {
    my ($promise, $name, $text, $line, $rule) = @_;

    my ($code, @said) = style($name => $text);

    ok($code == 1 && @said == 1
       && $said[0] =~ /^\Q$name\E:$line: $rule/, $promise)
        or diag "exit $code", map { "\n$_" } @said;
}


sub body {
    my ($text) = @_;

    return "\n/* x */\n\nvoid\nf(int a)\n{\n$text}\n";
}


sub function {
    my ($lines) = @_;

    return body("    a = 1;\n" x ($lines - 3));
}


my ($code, @said) = style('helper/broker/a.c' => $good);
is("$code @said", '0 ', 'our own style passes');

for my $call (qw(strcpy strcat strncat sprintf vsprintf gets strtok alloca
                 atoi atol scanf system popen mktemp tmpnam))
{
    fires("$call() is refused", 'a.c', body("    $call(a);\n"), 7,
          "\Q$call\E\\(\\) is banned");
}

my @bad = (
    ['a tab is refused', body("\ta = 1;\n"), 7, 'tab'],
    ['a blank at the end of a line is refused', body("    a = 1; \n"), 7,
     'trailing blank'],
    ['column 81 is refused', body('    a = ' . '1' x 72 . ";\n"), 7,
     'longer than 80'],
    ['sscanf() of a string without a width is refused',
     body("    sscanf(a, \"%d %s\",\n           &b, c);\n"), 7,
     'sscanf\(\) with'],
    ['a // comment is refused', body("    a = 1;  // one\n"), 7, '// comment'],
    ['if without braces is refused', body("    if (a)\n        a = 1;\n"), 7,
     'no brace after if'],
    ['else without braces is refused',
     body("    if (a) {\n        a = 1;\n    } else\n        a = 2;\n"), 9,
     'no brace after else'],
    ['for without braces is refused',
     body("    for (a = 0; a < (4); a++)\n        g();\n"), 7,
     'no brace after for'],
    ['while with an empty body is refused', body("    while (g(a));\n"), 7,
     'no brace after while'],
    ['a declaration inside for () is refused',
     body("    for (size_t i = 0; i < 2; i++) {\n    }\n"), 7, 'local'],
    ['the return type on the line of the name is refused',
     "\nint f(void)\n{\n    return 0;\n}\n", 2, 'return type'],
    ['a function that opens on its first line is refused',
     "\nint\nf(void) {\n    return 0;\n}\n", 3, 'brace of a function'],
    ['one blank line between functions is refused',
     body('') . "\nvoid\ng(void)\n{\n}\n", 8, '1 blank lines behind'],
    ['three blank lines between functions are refused',
     body('') . "\n\n\nvoid\ng(void)\n{\n}\n", 8, '3 blank lines behind'],
    ['one blank line before a function is refused',
     "\nint  x;\n\nvoid\ng(void)\n{\n}\n", 4, 'no two blank lines'],
    ['eight parameters are refused',
     "\nint\nf(int a, int b, int c, int d, int e,\n    int (*f)(int, int), "
     . "int g, int h)\n{\n    return 0;\n}\n", 3, 'f\(\) takes 8 parameters'],
    ['101 lines in a function are refused', function(101), 5,
     'f\(\) has 101 lines, 100 at most'],
    ['five levels of blocks are refused',
     body(join('', map { '    ' x $_ . "if (a) {\n" } 1 .. 5)
          . join('', map { '    ' x $_ . "}\n" } reverse 1 .. 5)), 11,
     'f\(\) nests deeper than 4'],
    ['801 lines in a file are refused', "\n" . "int  x;\n" x 800, 801,
     'file of more than 800'],
    ['a file that does not end its last line is refused', "\nint  x;", 2,
     'no newline'],
    ['a blank last line is refused', "\nint  x;\n\n", 3, 'blank line at'],
);

for my $row (@bad) {
    my ($promise, $text, $line, $rule) = @$row;
    fires($promise, 'ngx_module/a.c', $text, $line, $rule);
}

for my $part (qw(broker init mapd launch start protocol)) {
    fires("61 lines in a function of helper/$part are refused",
          "helper/$part/a.c", function(61), 5, 'f\(\) has 61 lines, 60');
}

fires('a helper file that does not say who runs it is refused',
      'helper/front/a.c', "\n#include <stdint.h>\n", 1, 'a file of the helper');
fires('251 lines in a test are refused', 'tests/x/a.t',
      ["#!/bin/sh\n" . ":\n" x 250, 0755], 251, 'file of more than 250');
fires('a script with broken syntax is refused', 'auto/x',
      ["#!/bin/bash\n\nif true\n", 0755], '\d+', 'syntax: ');
fires('a Perl file with broken syntax is refused', 'tests/x/b.t',
      ["#!/usr/bin/perl\n\nmy \$x = ;\n", 0755], 3, 'syntax: ');
fires('a script that cannot be started is refused', 'auto/x',
      ["#!/bin/bash\n", 0644], 1, 'has a #! line');
fires('a test without an interpreter is refused', 'tests/x/c.t',
      ["true\n", 0644], 1, 'no #! line');
fires('an interpreter that the PATH decides is refused', 'auto/x',
      ["#!/usr/bin/env bash\n", 0755], 1, '#!/usr/bin/env bash');

($code, @said) = style('ngx_module/a.c' => function(100),
                       'helper/init/b.c' => function(60),
                       'objs/c.c' => "\t// generated\n");
is("$code @said", '0 ', 'sizes at the limit pass, generated files do too');

@said = `\Q$style\E 2>&1`;
is($?, 0, 'the project passes') or diag @said;

done_testing();
