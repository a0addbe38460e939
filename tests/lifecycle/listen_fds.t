#!/usr/bin/perl

# A supervisor that holds the socket: connections made while the service is
# away wait in it, and none is refused.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use IO::Socket::UNIX;
use POSIX ();
use Retort::Service;
use Test::More;
use Time::HiRes qw(sleep);

# a descriptor that is passed on must not be closed by exec
$^F = 255;

my $s = Retort::Service->new(stopped => 1);
my $d = $s->{dir};

mkdir "$d/run";
chmod 0711, "$d/run";

my $held = IO::Socket::UNIX->new(Local => "$d/run/front.sock", Listen => 64)
    or die "socket: $!";

chmod 0666, "$d/run/front.sock";

# what a socket unit does: descriptor 3, and two variables
no warnings 'redefine';
local *Retort::Service::start_retortd = sub {
    my ($self) = @_;
    my $pid = fork // die;

    if ($pid == 0) {
        open STDERR, '>>', "$d/retortd.log";
        POSIX::dup2(fileno $held, 3);
        $ENV{LISTEN_FDS} = 1;
        $ENV{LISTEN_PID} = $$;
        exec "$Retort::Service::TOP/objs/retortd", '--conf', "$d/retortd.conf"
            or POSIX::_exit(127);
    }

    $self->{broker} = $pid;
};

$s->start;
is($s->run('print(1)')->{stdout}, "1\n", 'a socket that was handed over is served');
is($s->stop_retortd, 0, 'the service stops');
mkdir "$d/run";

my $pid = fork // die;

if ($pid == 0) {
    my $r = $s->run('print(2)');
    POSIX::_exit(($r->{stdout} // '') eq "2\n" ? 0 : 1);
}

sleep 0.5;
ok(-S "$d/run/front.sock", 'the socket is still there: it is not ours to remove')
    or diag('removed');
$s->start_retortd;
waitpid $pid, 0;
is($?, 0, 'a request made while the service was away was answered');

$s->stop_nginx;
close $held;
unlink "$d/run/front.sock";
$s->end;
done_testing;
