#!/usr/bin/perl

# nginx without our module, as its example has it, in front of a whole service.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Server;
use Test::More;

my $w = Retort::Server->new('nginx');

$w->spawn($^X, "$w->{dir}/server/identity.pl", "$w->{dir}/secret",
          "$w->{dir}/keys", "$w->{dir}/run/identity.sock");
$w->{s}->until_true(sub { -S "$w->{dir}/run/identity.sock" });
chmod 0666, "$w->{dir}/run/identity.sock";
$w->start("/usr/sbin/nginx", "-p", $w->{dir}, "-c", $w->conf, "-e",
          "$w->{dir}/logs/error.log", "-g", "daemon off; user www-data;");
$w->drive;
$w->end;

done_testing;
