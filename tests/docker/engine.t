#!/usr/bin/perl

# The tests' own engine: nothing of it is left, however it ended, and what its
# users left in it is named.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use Test::More;

use lib "$FindBin::Bin/../lib";
use Retort::Engine;

my $work = tempdir('sleeper-XXXXXX', TMPDIR => 1, CLEANUP => 1);

open my $c, '>', "$work/sleeper.c" or die $!;
print $c "#include <unistd.h>\nint main(void) { for ( ;; ) pause(); }\n";
close $c or die $!;
system('gcc', '-static', '-o', "$work/sleeper", "$work/sleeper.c") == 0 or die;


sub sleeper {
    my ($e) = @_;

    system("tar -C $work -c sleeper | docker -H unix://" . $e->socket
        . ' import - sleeper > /dev/null') == 0 or die 'no image';

    return $e->docker(qw(run -d --network none --label a=b sleeper /sleeper))
        =~ s/\s//gr;
}


sub traceless {
    my ($e, $how) = @_;

    is_deeply([$e->traces], [], "$how: no process, mount or cgroup of it");
    ok(!-e $e->dir, "$how: no file of it");
}


my $e = Retort::Engine->new;

is_deeply([$e->containers], [], 'an engine starts without containers');
is_deeply([grep {/^cgroup/} $e->traces], [], 'and without cgroups');
is_deeply([$e->end], [], 'an engine that was left clean says so');
traceless($e, 'after a clean end');

$e = Retort::Engine->new;

my $id = sleeper($e);
is_deeply([$e->containers], [$id], 'a container is seen');
is_deeply([$e->containers('a=b')], [$id], 'also by its label');
is_deeply([$e->containers('a=c')], [], 'and by no other');
ok((grep {/^process .*shim/} $e->traces), 'its shim is seen');
ok((grep {/^cgroup .*$id/} $e->traces), 'its cgroups are seen');
is_deeply([$e->end], ["container $id"], 'a container left is named');
traceless($e, 'and taken away');

$e = Retort::Engine->new;
$id = sleeper($e);
my $pid = $e->inspect($id)->{State}{Pid};

$e->crash;
ok(!defined $e->docker('version'), 'an engine that crashed does not answer');
ok(kill(0, $pid), 'its container lives on');
$e->start;
is($e->inspect($id)->{State}{Running}, JSON::PP::false,
    'started again it has ended that');
$e->docker('rm', $id);
is_deeply([$e->end], [], 'and is clean');
traceless($e, 'after a crash and a start');

$e = Retort::Engine->new;
$id = sleeper($e);
$e->crash;

my @left = $e->end;
ok((grep {/^process .*shim.*$id/} @left), 'what a crash left alive is named');
traceless($e, 'and taken away');

done_testing();
