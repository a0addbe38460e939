#!/usr/bin/perl

# auto/libs asks the network only for what is missing, and no service starts
# by it.  apt-get and dpkg-query are stand-ins that write down what happens.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use Test::More;

my $libs = "$FindBin::Bin/../../auto/libs";
my $policy = '/usr/sbin/policy-rc.d';
my $dir = tempdir(CLEANUP => 1);


sub program {
    my ($name, $script) = @_;

    open(my $file, '>', "$dir/$name") or die $!;
    print $file "#!/bin/bash\n$script";
    close $file or die $!;
    chmod 0755, "$dir/$name" or die $!;
}


sub slurp {
    my ($path) = @_;

    open(my $file, '<', $path) or return '';
    local $/;

    return <$file> // '';
}


# dpkg-query knows what is in "have"; apt-get install adds to it

sub machine {
    my ($have, $install) = @_;

    unlink "$dir/log";
    open(my $file, '>', "$dir/have") or die $!;
    print $file map { "$_\n" } @$have;
    close $file or die $!;

    program('dpkg-query', "sed 's/^/installed /' $dir/have\n");
    program('apt-get', <<"SH");
printf '%s\\n' "\$*" >> $dir/log
if $policy nginx start; then echo "may start" >> $dir/log; fi
case "\$*" in *" install "*) $install ;; esac
SH
}


sub libs {
    my (@args) = @_;

    local $ENV{PATH} = "$dir:$ENV{PATH}";
    my $said = `\Q$libs\E @args 2>&1`;

    return ($? >> 8, $said);
}


machine([], 'true');
my ($code, $said) = libs('--missing');
my @all = split ' ', $said;

is($code, 1, '--missing says by its exit code that something is missing');
ok(@all > 10 && grep({ $_ eq 'nginx' } @all), 'and names it');
is(slurp("$dir/log"), '', 'and installs nothing');

machine(\@all, 'true');
($code, $said) = libs();
is("$code $said", '0 ', 'nothing is said when nothing is missing');
is(slurp("$dir/log"), '', 'and apt-get is not called');

SKIP: {
    skip 'only root installs', 11 if $> != 0;

    my $policy_before = slurp($policy);

    machine([grep { $_ ne 'nginx' && $_ ne 'make' } @all],
            "printf 'nginx\\nmake\\n' >> $dir/have");
    ($code, $said) = libs();
    is($code, 0, 'what is missing is installed') or diag $said;

    my @log = split /\n/, slurp("$dir/log");
    is(scalar @log, 2, 'by two calls of apt-get');
    like($log[0], qr/ update$/, 'first of all the lists are fetched');
    like($log[1], qr/ --no-install-recommends install make nginx$/,
         'then exactly what is missing is asked for');
    unlike("@log", qr/may start/, 'no service may start meanwhile');
    is(slurp($policy), $policy_before, 'and that leaves no trace');
    ok(!-e "$policy.retort", 'nor a copy');

    machine([], 'echo E: no such mirror; exit 100');
    ($code, $said) = libs();
    isnt($code, 0, 'an installation that fails is no success');
    like($said, qr/E: no such mirror.*Is the network there/s,
         'and its words are shown, with what to do');
    is(slurp($policy), $policy_before, 'and that leaves no trace either');

    machine([], 'true');
    ($code, $said) = libs();
    like($said, qr/still missing after the installation: .*nginx/,
         'what apt-get forgets is noticed');
}

($code, $said) = libs('nonsense');
like($said, qr/usage/, 'an unknown list is refused');

done_testing();
