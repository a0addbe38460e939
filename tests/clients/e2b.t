#!/usr/bin/perl

# E2B's own client, unmodified, against a service of ours.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Clients;
use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1);

Retort::Service::write_file("$s->{dir}/secret", 's' x 40 . "\n", 0600);
$s->{location} = <<"CONF";
location /e2b/ {
    retort_api e2b;
    retort_pass unix:$s->{dir}/run/front.sock;
    retort_auth_key_file $s->{dir}/keys;
    retort_artifacts_secret $s->{dir}/secret;
}
CONF
$s->configure;
$s->start;

for my $script ('e2b_sdk.mjs', 'e2b_sdk_more.mjs') {
    clients_run($script, RETORT_KEY => $s->{key},
        RETORT_OTHER => $s->{other},
        RETORT_URL => "http://127.0.0.1:$s->{port}/e2b");
}

$s->end;
done_testing;
