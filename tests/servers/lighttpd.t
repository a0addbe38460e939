#!/usr/bin/perl

# lighttpd without our module, as its example has it, in front of a whole service.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Server;
use Test::More;

my $w = Retort::Server->new('lighttpd');

$w->start('/usr/sbin/lighttpd', '-D', '-f', $w->conf);
$w->drive;
$w->end;

done_testing;
