#!/usr/bin/perl

# What the Makefile promises: hardened programs, a complete install, no work
# twice, no change missed.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use Test::More;

chdir "$FindBin::Bin/../.." or die $!;

my @programs = qw(retortd retort-broker retort-mapd retort-launch
                  retort-front retort-fetch
                  retort-docker);

# its own jobserver, not one of a make around us
delete @ENV{qw(MAKEFLAGS MAKELEVEL DESTDIR)};

my $said = `make -s -j2 all unit 2>&1`;
is($?, 0, 'everything builds') or BAIL_OUT($said);
is($said, '', 'a quiet build says nothing');

$said = `make all unit 2>&1`;
unlike($said, qr/^  (?:CC|LINK|GEN|NGX)/m, 'a second make builds nothing');

$said = `make -n -W helper/lib/log.h all 2>&1`;
like($said, qr/CC   helper\/lib\/log\.c/, 'a changed header is noticed');
like($said, qr/LINK objs\/retort-broker/, 'and reaches the programs');

for my $program (map { "objs/$_" } @programs) {
    my $elf = `readelf -hldsW $program 2>&1`;

    like($elf, qr/Type: +DYN .*Position-Independent Executable/,
         "$program is position-independent");
    like($elf, qr/GNU_RELRO/, "$program has a read-only relocation table");
    like($elf, qr/FLAGS.*NOW/, "$program is bound at its start");
    like($elf, qr/GNU_STACK +\S+ +\S+ +\S+ +\S+ +\S+ +RW +/,
         "$program has no executable stack");
    like($elf, qr/__stack_chk_fail/, "$program guards its stack");
    unlike($elf, qr/R(?:UN)?PATH/, "$program takes libraries from no path");
}

my $dir = tempdir(CLEANUP => 1);
$said = `make install DESTDIR=$dir 2>&1`;
is($?, 0, 'make install works') or diag $said;

my %modes = (
    'usr/sbin/retortd' => 0755,
    'usr/lib/nginx/modules/ngx_http_retort_module.so' => 0644,
    'usr/lib/retort/layer/usr/lib/retort/retort-kernel' => 0755,
    'etc/retort/retortd.conf' => 0644,
    'etc/retort/profiles/default.conf' => 0644,
    map { ("usr/lib/retort/$_" => 0755) } grep { $_ ne 'retortd' } @programs,
);

for my $path (sort keys %modes) {
    my $mode = (stat "$dir/$path")[2] // 0;
    is($mode & 07777, $modes{$path}, "install puts $path there");
}

open(my $conf, '>>', "$dir/etc/retort/retortd.conf") or die $!;
print $conf "# mine\n";
close $conf or die $!;
`make install DESTDIR=$dir 2>&1`;
like(`tail -1 $dir/etc/retort/retortd.conf`, qr/^# mine$/,
     'a second install leaves the configuration as it is');

$said = `find $dir -perm /022 ! -type l`;
is($said, '', 'nothing installed can be written by others than its owner');

done_testing();
