package Retort::Strace;

# strace on a process of a service, until it is told to let go.
#
#   my $t = Retort::Strace->attach($s, $pid, '/dev/null', '-f', '-e', ...);
#   $t->detach;

use strict;
use warnings;

use POSIX ();
use Retort::Service;


# there is a program for it
sub here { -x '/usr/bin/strace' }


# once it holds the process; it ends with us
sub attach {
    my ($class, $s, $target, $log, @what) = @_;
    my $out = "$s->{dir}/strace";

    unlink $out;

    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>', $out;
        exec '/usr/bin/strace', '-o', $log, @what, '-p', $target
            or POSIX::_exit(127);
    }

    $s->until_true(sub { Retort::Service::slurp($out) =~ /attached/ })
        or die "strace: " . Retort::Service::slurp($out);

    return bless { s => $s, pid => $pid }, $class;
}


# what it made fail goes on failing as long as it is there
sub detach {
    my ($self) = @_;
    my $pid = delete $self->{pid} or return;

    kill 'TERM', $pid;
    waitpid $pid, 0;

    return;
}


# not while a sandbox ends: each would wait for the other
sub detach_after {
    my ($self) = @_;
    my $s = $self->{s};
    my $over = $s->until_true(sub { !$s->inside && !$s->boxes });

    $self->detach;

    return $over;
}


1;
