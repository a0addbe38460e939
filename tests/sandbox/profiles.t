#!/usr/bin/perl

# What a profile says about the inside: its root file system, the packages
# that may be imported.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Temp ();
use Retort::Service;
use Test::More;

# an image of its own: the other one, with a file more in it

my $image = Retort::Service::image();
my $copy = File::Temp->newdir('other-image-XXXXXX', TMPDIR => 1);
chmod 0755, "$copy";
system('cp', '-al', $image, "$copy/root") == 0 or die "cannot copy the image\n";
Retort::Service::write_file("$copy/root/etc/other", "other\n", 0644);

system('cp', $image =~ s/root$/manifest/r, "$copy/manifest") == 0
    or die "cannot copy the manifest\n";

my %plain = (import => 'numpy', ready => 0);
my %other = (rootfs => "$copy/root");

# a container's is what its image has
$other{docker_image} = Retort::Engine->get->image_with('/etc/other', "other\n")
    if Retort::Service::docker();

my $s = Retort::Service->new(profiles => {
    default => { %plain, %other,
        import => 'numpy pandas', import_allow => "pandas\nimport_allow tabulate" },
    plain => \%plain,
});

is($s->run('print(open("/etc/other").read())')->{stdout}, "other\n\n",
    'a profile has the root file system that it names');
is($s->bash('cat /etc/other')->{stdout}, "other\n", 'so have its programs');

my ($status, $meta) = $s->json('GET', '/v1/metadata');
my %version = map { $_->{name} => $_->{version} } @{ $meta->{modules} };
is("$status $meta->{profile} $meta->{image_profile}", '200 default data',
    'the manifest beside it is told');
is($s->run("import sys, pandas\nprint(sys.version.split()[0], "
    . 'pandas.__version__)')->{stdout}, "$meta->{python} $version{pandas}\n",
    'with the versions that are there');
is($meta->{limits}{memory_bytes}{default}, 512 << 20, 'and the limits');

my $refused = 'ImportError: module \'numpy\' is not allowed by '
    . 'PYTHON_PACKAGES_WHITELIST_IMPORT';
my $r = $s->run('import numpy');
is("$r->{error}{name}: $r->{error}{message}", $refused,
    'a package that is loaded, but not in its list, is refused');
is($r->{outputs}[0]{text}, "$refused\n", 'in these words');
is($s->run('import pandas as pd, tabulate, json; print(pd.Series([1]).sum())')
    ->{stdout}, "1\n", 'those in its list are there');
my $box = $s->session;
$s->run('import os; os.kill(os.getpid(), 9)', sandbox_id => $box);
is($s->run('import numpy', sandbox_id => $box)->{error}{message},
    $refused =~ s/^\w+: //r, 'an interpreter that was replaced has the list');

$s->end;

# mistakes

sub check {
    my (%profile) = @_;
    my $t = Retort::Service->new(stopped => 1,
        profiles => { default => \%profile });
    my $command = "$Retort::Service::TOP/objs/retortd --check --conf";
    my $said = qx($command $t->{dir}/retortd.conf 2>&1);
    my $rc = $? >> 8;
    $t->end;
    return "$rc $said";
}


like(check(rootfs => 'image'), qr/^1 .*no absolute path.*"image"/,
    'a relative path is an error');
like(check(rootfs => '/a,upperdir=b'), qr/^1 .*no absolute path/,
    'and one with a meaning of its own for mount');
like(check(import_allow => ''), qr/^1 .*wrong number.*"import_allow"/,
    'an empty list is an error');
my %wrong = ('5' => 'renew', '5 5 5 5' => 'renew', "5 5\nrenew 5 5" => 'renew',
    '5 x' => 'x', '5 -1' => '-1', '5 1.5' => '1.5', '1000000000 5' => '1000000000');
like(check(renew => $_), qr{^1 .*/default\.conf:\d+: .*"\Q$wrong{$_}\E"},
    s/\n/, /r . ' is an error of "renew", with its line')
    for sort keys %wrong;
like(check(renew => $_), qr/^0 $/, "... and \"$_\" is none") for '0 999999999', '5 5 5';
like(check(memory => '2g 1g'), qr/^1 .*above the ceiling: "memory"/,
    'a default above its ceiling is an error');
like(check(rootfs => '/srv/image', import_allow => 'numpy -turtle'), qr/^0 $/,
    'what is right is none');

done_testing();
