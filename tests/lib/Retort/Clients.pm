package Retort::Clients;

# Clients of other people, from npm: where auto/npm put them, the Node that
# they run on, and scripts of tests/clients/ whose lines are checks.
#
#   clients_run('mcp_sdk.mjs', RETORT_URL => $url, RETORT_KEY => $key);
#   my ($code, $said) = clients_program([ $file, @args ], NAME => $value);

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Test::More ();

our @EXPORT = qw(clients_dir clients_run clients_program);

my $TOP = abs_path(dirname(abs_path(__FILE__)) . '/../../..');
my $DIR;


sub clients_dir {
    return $DIR if defined $DIR;

    chomp($DIR = `\Q$TOP\E/auto/npm`);
    die "no clients: see auto/npm\n" if $? || !-d $DIR;

    return $DIR;
}


sub clients_node {
    my ($node) = glob(clients_dir() . '/node_modules/node-linux-*/bin/node');

    return $node // die "no Node among the clients\n";
}


# Nothing of the caller's settings, and a home that goes with the test.

sub clients_env {
    my %env = @_;

    return (PATH => $ENV{PATH}, LC_ALL => 'C.UTF-8', CI => 'true',
            HOME => tempdir('retort-test-XXXXXX', TMPDIR => 1, CLEANUP => 1),
            RETORT_CLIENTS => clients_dir(), %env);
}


sub clients_start {
    my ($args, %env) = @_;
    my @command = (clients_node(), @$args);

    %env = clients_env(%env);

    my $pid = open(my $pipe, '-|') // die "fork: $!";

    if ($pid == 0) {
        %ENV = %env;
        open STDIN, '<', '/dev/null';
        open STDERR, '>&', \*STDOUT;
        exec 'timeout', '-k', '5', '240', @command;
        die "exec: $!";
    }

    return $pipe;
}


# what it ends with, and all that it says

sub clients_program {
    my $pipe = clients_start(@_);
    local $/;
    my $said = <$pipe> // '';

    close $pipe;

    return ($? >> 8, $said);
}


sub clients_run {
    my ($script, @env) = @_;
    my $pipe = clients_start([ "$TOP/tests/clients/$script" ], @env);
    my $end = 0;

    while (my $line = <$pipe>) {
        chomp $line;

        if ($line =~ /^(not )?ok (.*)/) {
            Test::More::ok(!defined $1, $2);

        } elsif ($line eq 'end') {
            $end = 1;

        } else {
            Test::More::diag($line);
        }
    }

    close $pipe;

    return Test::More::ok($? == 0 && $end, "$script comes to its end");
}


1;
