#!/usr/bin/perl

# The sandbox image: what it has, and what it must not have.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Find qw(find);
use File::Temp ();
use Test::More;

use Retort::Kernel;

my $root = Retort::Kernel::image()
    or plan skip_all => 'no sandbox image: run auto/image';
my $top = $Retort::Kernel::TOP;

# the build, when there is nothing to do

is(qx($top/auto/image 2>&1), "$root\n", 'a second build only tells the path');
my $none = File::Temp->newdir;
is(qx(RETORT_IMAGE_CACHE=$none $top/auto/image --print), '',
    'what was not built is not told');
is($? >> 8, 1, 'and that is an error');
is_deeply([glob "$none/* $none/.build*"], [], 'asking builds nothing');

my $broken = do {
    local %ENV = (%ENV, RETORT_IMAGE_CACHE => "$none",
        RETORT_DEBIAN_MIRROR => 'http://127.0.0.1:9/none',
        RETORT_DEBIAN_SECURITY => 'http://127.0.0.1:9/none');
    qx($top/auto/image 2>&1);
};
isnt($? >> 8, 0, 'a mirror that is away fails the build');
like($broken, qr/the build failed.*RETORT_DEBIAN_MIRROR/s,
    'which says what to do');
is_deeply([grep { !m{/lock$} } glob "$none/* $none/.build*"], [],
    'and leaves nothing');

# the tree

my (@writable, @owner, @special, @setid, @closed, $files);

find({ no_chdir => 1, wanted => sub {
    my @s = lstat $_ or return;
    $files++;
    return if -l _;
    push @owner, $_ if $s[4] != 0 || $s[5] != 0;
    push @writable, $_ if $s[2] & 0022;
    push @setid, $_ if $s[2] & 06000;
    push @special, $_ if -b _ || -c _ || -p _ || -S _;
    push @closed, $_ if ($s[2] & 0004) == 0 || -d _ && ($s[2] & 0001) == 0;
} }, $root);

cmp_ok($files, '>', 10_000, 'the image has its files');
is_deeply(\@owner, [], 'root owns all of it');
is_deeply(\@writable, [], 'nobody else may write any of it');
is_deeply(\@setid, [], 'no program changes its user or group');
is_deeply(\@special, [], 'there is no device, pipe or socket');
is_deeply(\@closed, [], 'any uid may read all of it');

for my $dir (qw(dev proc sys run tmp workspace)) {
    ok(-d "$root/$dir" && !glob("$root/$dir/*"), "/$dir is there and empty");
}

for my $gone (qw(etc/machine-id etc/resolv.conf etc/shadow etc/apt
    var/lib/dpkg var/lib/apt var/cache/apt var/log/dpkg.log usr/bin/apt-get
    usr/bin/gcc usr/bin/curl usr/bin/git usr/bin/gdb))
{
    ok(!-e "$root/$gone", "/$gone is not there");
}

open my $fh, '<', "$root/etc/passwd" or die "passwd: $!\n";
is(scalar(grep { /^sandbox:x:1000:1000:.*:\/workspace:/ } <$fh>), 1,
    'the user is called sandbox');
is(readlink "$root/mnt/data", '/workspace', '/mnt/data is the workspace');
is(readlink "$root/home/uploaded_files", '/workspace',
    '/home/uploaded_files as well');

(my $manifest = $root) =~ s/root$/manifest/;
open $fh, '<', $manifest or die "$manifest: $!\n";
my @lines = <$fh>;
is(scalar(grep { /^package libpython3\.11 3\.11\./ } @lines), 1,
    'the manifest has the packages and their versions');
my ($bytes) = map { /^bytes (\d+)/ } @lines;
cmp_ok($bytes, '<', 700_000_000, 'the image stays small');

# from the inside, as an ordinary user

my $kernel = Retort::Kernel->start;
is_deeply(Retort::Kernel::brief($kernel->run(<<'END')), ["1:[]\n", 'ok'],
import sys, os
missing = []
for folder in ('/usr/lib/python3/dist-packages', '/usr/lib/python3.11'):
    for at, dirs, files in os.walk(folder):
        if '__pycache__' in dirs and 'lib2to3' not in at:
            have = set(os.listdir(at + '/__pycache__'))
            missing += [at + '/' + f for f in files if f.endswith('.py')
                        and f[:-3] + '.cpython-311.pyc' not in have]
print(missing[:5])
END
    'every module is compiled');
is_deeply(Retort::Kernel::brief($kernel->run('!iconv -f GBK -t UTF-8 < /dev/null'
    . ' && cal 2>/dev/null; locale -a | grep -i c.utf')), ["|1:C.utf8\n", 'ok'],
    'character sets and a UTF-8 locale');
is_deeply(Retort::Kernel::brief($kernel->run("open('/etc/x', 'w')"))->[-1],
    'failed', 'the image cannot be written');
$kernel->end;

done_testing();
