#!/usr/bin/perl

# Figures that are published are those that were measured.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Temp qw(tempdir);
use Test::More;

use Retort::Bench;
use Retort::Bench::Report;

my $docs = "$Retort::Bench::TOP/docs/benchmarks";
my $dir = tempdir(CLEANUP => 1);


sub slurp { return Retort::Service::slurp($_[0]) }


my %text = Retort::Bench::Report->new($docs)->texts;

ok($text{README} eq slurp("$docs/README.md"),
   'the table in docs/benchmarks/README.md is what results.json says')
    or diag('auto/bench --report writes it');
ok($text{page} eq slurp("$docs/index.html"), 'and so is the page with plots')
    or diag('auto/bench --report writes it');
unlike($text{page}, qr/<script|(?:src|href)\s*=|\@import|url\(/,
       'the page asks nobody else for anything');

# other figures make other texts

my $b = Retort::Bench->new;

open my $said, '>&', \*STDOUT or die;
open STDOUT, '>', '/dev/null' or die;
$b->row(1, 'a ratio & more', 3, 4, must => 0.8, goal => 0.5);
$b->row(5, 'a peer that is not there', 3, undef, must => 2, goal => 3,
        more => 1);
$b->point('cells/s', clients => $_, 100 * $_) for 1, 2, 8;
$b->figure('fresh sandbox, p50 us', 1234.5);
open STDOUT, '>&', $said or die;

$b->save("$dir/results.json", $_, when => '2000-01-01', cores => 2,
         kernel => '6.0', processor => 'p', quick => JSON::PP::false)
    for 'fresh', 'warm';
Retort::Service::write_file("$dir/README.md", $text{README});
Retort::Bench::Report->new($dir)->write;

my ($readme, $page) = (slurp("$dir/README.md"), slurp("$dir/index.html"));

isnt($readme, $text{README}, 'a new measurement is a new table');
like($readme, qr/\| 1 \| a ratio & more \| \S+ 0\.8 \| \S+ 0\.5 \| 0\.75 \| must/,
     'a ratio stands beside what it must be');
like($readme, qr/a peer that is not there.*\| - \| not measured/,
     'what was not measured is named');
like($page, qr/a ratio &amp; more/, 'names are text in the page');
unlike(slurp("$dir/results.json"), qr/"warm"[^}]*a ratio/s,
       'figures of one part are not those of another');
is(system('python3', '-c', 'import sys, xml.dom.minidom, re
for svg in re.findall("<svg.*?</svg>", open(sys.argv[1]).read(), re.S):
    xml.dom.minidom.parseString(svg)', "$dir/index.html"), 0,
   'its plots are well-formed');

done_testing();
