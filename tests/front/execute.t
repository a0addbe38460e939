#!/usr/bin/perl

# A cell, from a FastCGI request to its answer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front wait_for);

my $f = Retort::Front->start();

my $r = $f->execute({ code => 'out("4\n")' });
is($r->{status}, 200, 'a cell is answered with 200');
is($r->{json}{status}, 'ok', 'its status is ok');
is($r->{json}{stdout}, "4\n", 'its output is there');

done_front($f);
