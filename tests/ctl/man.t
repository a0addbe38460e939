#!/usr/bin/perl

# The manual says what there is: every command, option and exit code.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use Test::More;

my $top = abs_path(dirname(abs_path(__FILE__)) . '/../..');
my $page = "$top/man/retortctl.1";

my $lint = `mandoc -T lint \Q$page\E 2>&1`;
is($?, 0, 'mandoc finds nothing wrong with the manual') or diag $lint;
is($lint, '', 'and has nothing to say about it');

my $text = `mandoc -T ascii \Q$page\E | col -b`;
my $help = `\Q$top\E/objs/retortctl --help`;
my @commands = $help =~ /^  (?!--)([a-z ]+?)(?: [A-Z\[].*)?:/mg;
my @options = $help =~ /^  (--[a-z-]+)/mg;

cmp_ok(scalar @commands, '>=', 10, 'the help names commands');
cmp_ok(scalar @options, '>=', 15, 'and options');

like($text, qr/^     \Q$_\E\b/m, "\"$_\" is in the manual") for @commands;
like($text, qr/^     \Q$_\E\b/m, "$_ is in the manual") for @options;

my %said = map { $_ => 1 } $text =~ /(--[a-z-]+)/g;
delete @said{@options};
is_deeply([keys %said], [], 'the manual names no other option');

for my $command (@commands) {
    my $one = `\Q$top\E/objs/retortctl $command --help`;

    is($?, 0, "\"$command\" helps");
    like($one, qr/^usage: retortctl \Q$command\E/, 'and names itself');
}

done_testing;
