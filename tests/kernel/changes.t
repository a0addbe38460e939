#!/usr/bin/perl

# What a run did to files is told after it, and what it saved for its client
# is given.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(sha256_hex);
use Test::More;

use Retort::Kernel;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel = Retort::Kernel->start;
my %want = (want => [10, 100_000, 0]);


sub does {
    my ($code, @opt) = @_;

    $kernel->run($code, @opt);
    return [map { $_->[0] eq 'more' ? 'more' : "$_->[0] $_->[1] $_->[2]" }
        @{ $kernel->{changes} }];
}


sub saved { return { map { @$_ } @{ $kernel->{saved} } } }


# ---- created, changed, deleted ----

is_deeply(does('x = 1'), [], 'a run that writes nothing changed nothing');
is_deeply(does("import os; os.makedirs('d/e')\nopen('b', 'w').write('bb')\n"
    . "open('d/e/a', 'w').write('a')"),
    ['created b 2', 'created d/e/a 1'], 'new files are told, sorted');
is($kernel->{changes}[0][3], sha256_hex('bb'), 'with their digest');
is_deeply(does('x = 2'), [], 'once');
is_deeply(does("open('b', 'a').write('b')"), ['changed b 3'],
    'one that grew has changed');
is_deeply(does("open('b', 'w').write('ccc')"), ['changed b 3'],
    'so has one of the same size');
is_deeply(does("open('b', 'w').write('ddd')"), ['changed b 3'],
    'at once after it as well');
is_deeply(does("os.utime('b'); os.chmod('b', 0o600)"), [],
    'one that is only touched has not');
is_deeply(does("open('b', 'w').write('ddd')"), [],
    'nor has one that got the same content');
is_deeply(does("os.rename('b', 'c')"), ['deleted b 3', 'created c 3'],
    'another name is another file');
is_deeply(does("import shutil; shutil.rmtree('d')"), ['deleted d/e/a 1'],
    'what was in a folder goes with it');
is_deeply(does("os.remove('c'); os.mkdir('c'); open('c/x', 'w')"),
    ['deleted c 3', 'created c/x 0'], 'a folder may take a file\'s place');
is_deeply(does("os.symlink('/etc', 'etc'); os.mkfifo('p')\n"
    . "os.symlink('/etc/passwd', 'passwd.png')", %want), [],
    'links and pipes are no files');
is_deeply(saved(), {}, 'and nothing is saved of them');
is_deeply(does('echo 1 > sh; rm c/x', bash => 1),
    ['deleted c/x 0', 'created sh 2'], 'bash is no different');
is_deeply(does("import time\nopen('left', 'w').write('x')\n1/0"),
    ['created left 1'], 'nor is a run that fails');

# ---- what a client does is no run's doing ----

$kernel->file('given', 'x');
is_deeply(does('x = 3'), [], 'a file of the client\'s is none of the run\'s');
is_deeply(does("open('given', 'a').write('y')"), ['changed given 2'],
    'until it is changed');
$kernel->ask(Retort::Kernel::DELETE, 'given');
is_deeply(does('x = 4'), [], 'one that the client deleted is not told');

# ---- many, deep, large ----

my $many = does("for i in range(400): open(f'n{i:03}', 'w')");
is_deeply([scalar @$many, $many->[-1]], [257, 'more'],
    'a long list is cut, and says so');
$many = does("for i in range(0, 400, 100): open(f'n{i:03}', 'w').write('1')");
is_deeply($many, [map { "changed n${_}00 1" } 0 .. 3],
    'and those that were not told are known all the same');
does("for i in range(400): os.remove(f'n{i:03}')");
$many = does("for i in range(30): os.mkdir('q'); os.chdir('q')\n"
    . "open('deep', 'w'); os.chdir('/workspace')");
is_deeply($many, ['more'], 'there is a depth beyond which nobody looks');
does("shutil.rmtree('q')");
does("open('large', 'wb').truncate(40_000_000)");
is_deeply([@{ $kernel->{changes}[0] }], ['created', 'large', 40_000_000, ''],
    'a large file is told without a digest');
does("os.remove('large')");

# ---- what is saved for the client ----

my $code = "open('plot.png', 'w').write('png'); open('a.txt', 'w').write('t')\n"
    . "os.makedirs('sub', exist_ok=True); open('sub/Q.PDF', 'w').write('pdf')\n"
    . "open('.hidden.png', 'w').write('h'); open('big.svg', 'w').write('x' * 100_001)";
does($code, %want);
is_deeply(saved(), { 'plot.png' => 'png', 'sub/Q.PDF' => 'pdf' },
    'pictures that code saved are given');
is(scalar @{ $kernel->{changes} }, 5, 'all files are told');
does($code, %want);
is_deeply(saved(), {}, 'the same picture is not given twice');
does("for f in ('plot.png', 'a.txt', 'sub/Q.PDF', '.hidden.png'): os.remove(f)");
does($code, want => [10, 100_000, 1]);
is_deeply([sort keys %{ saved() }], ['a.txt', 'plot.png', 'sub/Q.PDF'],
    'everything is, if nothing can be fetched later');
does("for f in ('plot.png', 'sub/Q.PDF'): os.remove(f)");
does($code, want => [1, 100_000, 0]);
is(scalar keys %{ saved() }, 1, 'as many as are wanted');

does("o = os.environ['OUTPUT_DIR']; print(os.listdir(o))\n"
    . "open(o + '/r.xyz', 'w').write('result'); os.mkdir(o + '/d')\n"
    . "open(o + '/d/e', 'w'); os.symlink('/etc/passwd', o + '/link')", %want);
is_deeply(saved(), { 'r.xyz' => 'result' },
    'of OUTPUT_DIR every file at its top is given');
is_deeply(Retort::Kernel::brief($kernel->run('os.listdir(o)')),
    ['result:[]', 'ok'], 'and the next run finds it empty');
does('echo hi > "$OUTPUT_DIR/x"; mkdir -p "$OUTPUT_DIR"/a/b', bash => 1, %want);
is_deeply(saved(), { x => "hi\n" }, 'bash knows it, too');
does("shutil.rmtree(o); os.symlink('/etc', o)", %want);
is_deeply(saved(), {}, 'what it is made to lead to is not given');
is_deeply(Retort::Kernel::brief($kernel->run("os.path.islink(o), os.listdir(o)")),
    ['result:(False, [])', 'ok'], 'and it is made anew');
does("open(o + '/y', 'w')", want => [0, 0, 0]);
is_deeply(Retort::Kernel::brief($kernel->run('os.listdir(o)')),
    ['result:[]', 'ok'], 'it is emptied even if nobody wants it');

is($kernel->end, 0, 'the kernel ends with its channel');
done_testing();
