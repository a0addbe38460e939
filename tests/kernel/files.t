#!/usr/bin/perl

# Files that a client puts into the session.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Errno qw(:POSIX);
use Test::More;

use Retort::Kernel;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel = Retort::Kernel->start;


sub brief { return Retort::Kernel::brief($kernel->run(@_)) }


is($kernel->file('a.txt', "text\n"), 0, 'a file is written');
is_deeply(brief("open('a.txt').read()"), ["result:'text\\n'", 'ok'],
    'and read');
is($kernel->file('a.txt', 'b'), 0, 'a second time');
is_deeply(brief("open('a.txt').read()"), ["result:'b'", 'ok'], 'replaces it');
is($kernel->file('empty', ''), 0, 'an empty file');
is_deeply(brief("import os; os.path.getsize('empty')"), ['result:0', 'ok'],
    'is one');

my $big = join '', map { chr($_ % 256) } 1 .. 1_000_003;
is($kernel->file('d/e/f.bin', $big), 0, 'folders are made');
is_deeply(brief("b = open('d/e/f.bin', 'rb').read()\n"
    . "len(b), all(c == (i + 1) % 256 for i, c in enumerate(b))"),
    ['result:(1000003, True)', 'ok'], 'a megabyte of every byte');

is($kernel->file("\xe4\xbb\xb7 \xe6\xa0\xbc.csv", 'a,b'), 0,
    'a name in Chinese, with a blank');
is_deeply(brief("import glob; glob.glob('*.csv')"),
    ["result:['\xe4\xbb\xb7 \xe6\xa0\xbc.csv']", 'ok'], 'is kept');

for my $name ('', '/etc/x', '../x', 'a/../../x', 'd/..', '.', 'd//x', 'd/',
    "a\0b", './x', 'n' x 5000)
{
    my $shown = length $name > 20 ? '5000 letters' : $name =~ s/\0/\\0/r;
    is($kernel->file($name, 'x'), EINVAL, "the name '$shown' is refused");
}

is($kernel->file('n' x 300, 'x'), ENAMETOOLONG, 'a name can be too long');
is($kernel->file('d', 'x'), EISDIR, 'a folder is not replaced');
is($kernel->file('a.txt/b', 'x'), ENOTDIR, 'a file is no folder');

# what tenant code left in the way

brief(<<'END');
os.symlink('/tmp', 'out'); os.symlink('/tmp/target', 'link')
os.mkfifo('fifo'); open('/tmp/target', 'w').write('old'); os.mkdir('locked', 0)
END
cmp_ok($kernel->file('out/x', 'x'), '!=', 0, 'a link to a folder: not followed');
is_deeply(brief("os.path.exists('/tmp/x')"), ['result:False', 'ok'],
    'so nothing is written there');
is($kernel->file('link', 'new'), 0, 'a link to a file is replaced');
is_deeply(brief("open('/tmp/target').read(), os.path.islink('link')"),
    ["result:('old', False)", 'ok'], 'and its target left alone');
is($kernel->file('fifo', 'x'), 0, 'a pipe does not stop it');
is($kernel->file('locked/x', 'x'), EACCES, 'a folder without rights does');

# a full disk: the harness gives 64 MB

is($kernel->file('huge', 'x' x 70_000_000), ENOSPC, 'a full disk is told');
is_deeply(brief("os.path.exists('huge')"), ['result:False', 'ok'],
    'and half a file is not left');
is($kernel->file('small', 'x'), 0, 'there is room again');

brief("import resource, signal\n"
    . "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))");
is($kernel->file('large', 'x' x 200_000), EFBIG,
    'the limit of a file\'s size is told');

brief("os.chdir('/tmp')");
is($kernel->file('here', 'x'), 0, 'from another folder');
is_deeply(brief("os.path.exists('/workspace/here')"), ['result:True', 'ok'],
    'it goes to the workspace still');

is($kernel->end, 0, 'the kernel ends with its channel');
done_testing();
