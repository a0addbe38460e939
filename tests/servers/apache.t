#!/usr/bin/perl

# Apache without our module, as its example has it, in front of a whole service.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Server;
use Test::More;

my $w = Retort::Server->new('apache');

$w->start('/usr/sbin/apache2', '-D', 'FOREGROUND', '-d', $w->{dir}, '-f', $w->conf);
$w->drive;
$w->end;

done_testing;
