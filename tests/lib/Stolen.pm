package Stolen;

# How much of the processors' time a virtual machine was not given, second by
# second, as /proc/stat tells it.  Tests wait for seconds; a host that takes
# the processors away for as long makes liars of them.

use strict;
use warnings;

use Time::HiRes qw(sleep time);

use constant { EVERY => 0.5, WINDOW => 3 };


sub new {
    my ($class, $stat) = @_;

    open(my $notes, '+>', undef) or die "notes: $!\n";
    my $self = bless { notes => $notes, stat => $stat }, $class;

    $self->{pid} = fork // die "fork: $!\n";
    $self->watch if $self->{pid} == 0;

    return $self;
}


sub watch {
    my ($self) = @_;
    my $parent = getppid;

    $SIG{$_} = 'DEFAULT' for qw(INT TERM);
    $self->{notes}->autoflush(1);

    while (getppid == $parent) {
        my ($total, $stolen) = $self->times;
        printf { $self->{notes} } "%.2f %d %d\n", time, $total, $stolen;
        sleep EVERY;
    }

    require POSIX;
    POSIX::_exit(0);
}


sub times {
    my ($self) = @_;

    open(my $file, '<', $self->{stat}) or return (0, 0);
    my (undef, @of) = split ' ', readline $file;
    my $total = 0;

    # the last two are in the first two already
    $total += $_ for grep { defined } @of[0 .. 7];

    return ($total, $of[7] // 0);
}


# the worst share of some seconds between two points in time

sub worst {
    my ($self, $from, $to) = @_;
    my ($worst, @window) = (0);

    seek $self->{notes}, 0, 0;

    while (my $line = readline $self->{notes}) {
        my ($at, $total, $stolen) = split ' ', $line;

        next if $at < $from - EVERY || $at > $to + EVERY;

        push @window, [$at, $total, $stolen];
        shift @window while $at - $window[0][0] > WINDOW + EVERY;

        my $passed = $total - $window[0][1];

        next if $at - $window[0][0] < WINDOW - EVERY || $passed <= 0;

        my $share = ($stolen - $window[0][2]) / $passed;
        $worst = $share if $share > $worst;
    }

    return $worst;
}


sub end {
    my ($self) = @_;

    kill 'KILL', $self->{pid};
    waitpid $self->{pid}, 0;
}


1;
