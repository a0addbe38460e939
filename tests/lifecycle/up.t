#!/usr/bin/perl

# auto/up gives a first answer, does nothing twice, says what is wrong;
# auto/down leaves nothing.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use FindBin;
use IO::Socket::INET;
use Test::More;

use lib "$FindBin::Bin/../lib";
use Leftovers qw(look leftovers);

plan skip_all => 'needs root' if $> != 0;

my $top = abs_path("$FindBin::Bin/../..");
my $dir = tempdir(TMPDIR => 1, CLEANUP => 1);
my $port = free_port();
my $before = look();

$ENV{RETORT_HOME} = "$dir/home";
$ENV{RETORT_RUN} = "/run/retort-up-$$";
$ENV{RETORT_STATE} = "/var/lib/retort-up-$$";
$ENV{RETORT_NAME} = "retort-up-$$";
$ENV{RETORT_PORT} = $port;
$ENV{RETORT_UID_BASE} = 1_500_100_000;

END { system("\Q$top\E/auto/down >/dev/null 2>&1") if $top && $> == 0 }


sub free_port {
    my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')
        or die "no free port: $!\n";

    return $socket->sockport;
}


sub up {
    my $said = `\Q$top\E/auto/up 2>&1 < /dev/null`;
    return ($? >> 8, $said);
}


sub pid {
    my ($name) = @_;

    open(my $file, '<', "$dir/home/$name.pid") or return 0;
    return (split ' ', <$file>)[0];
}


sub append {
    my ($path, $text) = @_;

    open(my $file, '>>', $path) or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
}


my $busy = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:$port")
    or die "$!\n";
my ($code, $said) = up();
isnt($code, 0, 'a port in use is no success');
like($said, qr/RETORT_PORT=/, 'and it says what to do');
close $busy;

($code, $said) = up();
is($code, 0, 'auto/up succeeds after that')
    or do { diag $said; done_testing(); exit };
like($said, qr{^curl -s http://127\.0\.0\.1:$port/v1/execute}m,
     'it prints the request');
like($said, qr/"stdout": *"4\\n"/, 'and the answer');

my ($curl) = $said =~ /^(curl .*?)\n\n/ms;
my $again = `$curl`;
like($again, qr/"status": *"ok"/, 'the printed line works as it stands');

my ($link) = $said =~ /the picture is at (\S+)/;
my $picture = `curl -s '$link'`;
like($picture, qr/\A\x89PNG/, 'the picture that it names is one');

like(`curl -s http://127.0.0.1:$port/metrics`,
     qr/^retort_runs_total\{workspace="demo",[^}]*verdict="ok"\} 2$/m,
     'metrics are there, from the machine itself');
like(`\Q$top\E/objs/retortctl pool --socket $ENV{RETORT_RUN}/control.sock`,
     qr/^default +yes/m, 'and retortctl has somebody to ask');

is((stat "$dir/home/demo.key")[2] & 07777, 0600, 'the key is for root alone');
chomp(my $key = `cat $dir/home/demo.key`);
unlike(`cat $dir/home/keys`, qr/\Q$key\E/,
       'nginx gets the hash of the key, not the key');

my ($retortd, $nginx) = (pid('retortd'), pid('nginx'));

for my $pid ($retortd, $nginx) {
    my $env = `cat /proc/$pid/environ`;
    unlike($env, qr/HOME=|RETORT_PORT/, "process $pid has a clean environment");
}

($code, $said) = up();
is($code, 0, 'a second auto/up succeeds') or diag $said;
is(pid('retortd') . ' ' . pid('nginx'), "$retortd $nginx",
   'and starts nothing again');

append("$dir/home/profiles/default.conf", "# mine\n");
($code, $said) = up();
is($code, 0, 'auto/up succeeds after a change of a profile') or diag $said;
isnt(pid('retortd'), $retortd, 'which starts retortd again');
is(pid('nginx'), $nginx, 'and leaves nginx alone');

kill 'KILL', pid('retortd');
($code, $said) = up();
is($code, 0, 'auto/up mends a retortd that was killed') or diag $said;

append("$dir/home/profiles/default.conf", "memory none\n");
($code, $said) = up();
isnt($code, 0, 'a broken profile is no success');
like($said, qr/default\.conf:\d+:.*memory/, 'and it says where it is broken');

$said = `\Q$top\E/auto/down 2>&1`;
is($?, 0, 'auto/down succeeds') or diag $said;
is(join("\n", grep { /retort-up-$$|\Q$dir\E|port $port/ } leftovers($before, 5)),
   '', 'and leaves nothing');
ok(!-e $ENV{$_}, "nor $ENV{$_}")
    for qw(RETORT_HOME RETORT_RUN RETORT_STATE);

$said = `\Q$top\E/auto/down 2>&1`;
is($?, 0, 'auto/down of what is down succeeds') or diag $said;

done_testing();
