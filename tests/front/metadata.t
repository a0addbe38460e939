#!/usr/bin/perl

# What there is in a sandbox: from the settings' memfd to an answer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(manifest => join "\n", 'image 12ab',
    'profile data', 'python 3.11.2', 'bytes 5', 'module numpy 1.24.2',
    'module odd', 'package jq 1.6-2.1', 'packages', '', "module t\xff 1");

my $r = $f->get('GET', '/metadata');
my $j = $r->{json};
is($r->{status}, 200, 'it is told what there is');
is_deeply([@$j{qw(profile image image_profile python)}],
    ['default', '12ab', 'data', '3.11.2'], 'profile, image, Python');
is_deeply($j->{modules}, [{ name => 'numpy', version => '1.24.2' },
    { name => 'odd', version => undef },
    { name => "t\x{fffd}", version => '1' }], 'modules and their versions');
is_deeply($j->{packages}, [{ name => 'jq', version => '1.6-2.1' }],
    'packages and theirs');
is_deeply($j->{limits}{memory_bytes}, { default => 256_000_000,
    max => 512_000_000 }, 'limits');
is_deeply($j->{limits}{timeout}, { default => 20, max => 30 }, 'in seconds');
is($f->get('GET', '/metadata', undef, RETORT_LIMIT_TIMEOUT => 5000)
    ->{json}{limits}{timeout}{max}, 5, 'as the location lowered them');
is($f->get('POST', '/metadata', {})->{status}, 405, 'it is read, no more');
is($f->get('GET', '/metadata', undef, RETORT_WORKSPACE => '')->{status}, 403,
    'by those who have a workspace');
$f->stop;

$f = Retort::Front->start;
$j = $f->get('GET', '/metadata')->{json};
is_deeply([$j->{modules}, $j->{packages}, $j->{python}], [[], [], undef],
    'an image without a manifest has limits alone');

done_front($f);
