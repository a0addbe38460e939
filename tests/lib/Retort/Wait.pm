package Retort::Wait;

# Waiting for what must come.  Turns are counted, not the clock: a machine that
# stands still for a minute uses up no patience.

use strict;
use warnings;

use Exporter qw(import);
use Time::HiRes qw(sleep);

our @EXPORT_OK = qw(patiently);

use constant TURNS => 100;      # a second


# what the code returns as soon as it is true, or nothing

sub patiently {
    my ($code, $seconds) = @_;

    for (1 .. $seconds * TURNS) {
        my $r = $code->();
        return $r if $r;
        sleep 1 / TURNS;
    }

    return;
}

1;
