package Retort::Same;

# A test of another family, unchanged, with containers as sandboxes.
#
#   Retort::Same::run('sandbox/limits.t');

use strict;
use warnings;

use Retort::Engine;


sub run {
    my ($test) = @_;
    my $engine = Retort::Engine->get;

    local $ENV{RETORT_ENGINE} = $engine->dir;
    local $ENV{RETORT_BACKEND} = 'docker';
    system $^X, "$Retort::Engine::TOP/tests/$test";

    exit($? & 127 ? 255 : $? >> 8);
}


1;
