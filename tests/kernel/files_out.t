#!/usr/bin/perl

# Files of a session: listed, read, written piece by piece, deleted.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Errno qw(:POSIX);
use constant ECANCELED => 125;
use Test::More;

use Retort::Kernel;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel = Retort::Kernel->start;

use constant { FILE => 1, FOLDER => 2, OTHER => 3 };


sub brief { return Retort::Kernel::brief($kernel->run(@_)) }
sub get { return $kernel->ask(Retort::Kernel::GET, @_) }
sub list { return $kernel->ask(Retort::Kernel::LIST, @_) }
sub del { return ($kernel->ask(Retort::Kernel::DELETE, @_))[0] }
sub put { return $kernel->put(@_) }
sub names { return [map { "$_->[0] $_->[1] $_->[2]" } @{ $_[0] }] }


my ($error, $more, $entries, $bytes);

# ---- written piece by piece ----

is_deeply([put('a.txt', Retort::Kernel::LAST, 'ab', '', 'c' x 32768)], [0, 0],
    'a file in pieces is written');
is_deeply(brief("len(open('a.txt').read())"), ['result:32770', 'ok'],
    'and whole');
is_deeply([put('a.txt', Retort::Kernel::LAST, 'new')], [0, 1],
    'a second time replaces it, and that is told');
is_deeply([put('d/e/b', Retort::Kernel::LAST)], [0, 0],
    'folders are made, an empty file is one');
is((put('a.txt', Retort::Kernel::ABORT, 'half'))[0], ECANCELED,
    'one that is given up is not written');
is_deeply(brief("open('a.txt').read(), sorted(__import__('os').listdir())"),
    ["result:('new', ['a.txt', 'd'])", 'ok'],
    'the old one stays, and no part of the new');
is((put('d', Retort::Kernel::LAST, 'x' x 100))[0], EISDIR,
    'a folder is not replaced, which is told before the end');
is((put('../x', Retort::Kernel::LAST, 'x'))[0], EINVAL, 'nor is one left');
is((put('big', Retort::Kernel::LAST, ('x' x 32768) x 2100))[0], ENOSPC,
    'a full disk is told while more is on its way');
is_deeply(brief("import os; sorted(os.listdir())"), ["result:['a.txt', 'd']", 'ok'],
    'and leaves nothing');

$kernel->send_packet(Retort::Kernel::PUT, ++$kernel->{run}, 0, 0, [1], 'r');
$kernel->data('half', Retort::Kernel::SOME);
$kernel->send_packet(Retort::Kernel::RESET, 99, 0, 0, [], '');
my $msg = $kernel->message;
is_deeply([@$msg{qw(type run)}], [Retort::Kernel::RESET, 99],
    'a front that died in the middle gets its reset');
is_deeply(brief("os.path.exists('r'), len(os.listdir())"),
    ['result:(False, 2)', 'ok'], 'and nothing of it stays');

# ---- lists ----

brief(<<'END');
import os
os.makedirs('d/deep/er'); open('d/deep/er/z', 'w').write('zz')
os.symlink('/etc', 'd/link'); os.mkfifo('pipe'); os.utime('a.txt', (5, 5))
END

($error, $more, $entries) = list('', 100, 0);
is_deeply([$error, $more, names($entries)],
    [0, 0, ['a.txt 1 3', 'd 2 0', 'pipe 3 0']], 'a list is sorted and typed');
is($entries->[0][3], 5000, 'with the time of the last change');
(undef, undef, $entries) = list('', 100, 1);
is_deeply(names($entries), ['a.txt 1 3', 'd 2 0', 'd/deep 2 0',
    'd/deep/er 2 0', 'd/deep/er/z 1 2', 'd/e 2 0', 'd/e/b 1 0', 'd/link 3 0',
    'pipe 3 0'], 'with all that is below, and no link followed');
(undef, undef, $entries) = list('d/e', 100, 1);
is_deeply(names($entries), ['b 1 0'], 'a folder by itself');
($error, $more, $entries) = list('', 2, 1);
is_deeply([$more, scalar @$entries], [1, 2], 'a long list ends, and says so');
is((list('d/link', 9, 0))[0], ENOTDIR, 'a link is no folder');
is((list('nowhere', 9, 0))[0], ENOENT, 'what is not there has no list');
is((list('..', 9, 0))[0], EINVAL, 'nothing above can be listed');

brief("for i in range(25): os.mkdir('n'); os.chdir('n')\nos.chdir('/workspace')");
($error, $more, $entries) = list('n', 1000, 1);
is_deeply([$error, $more], [0, 1], 'a list has a depth');
cmp_ok(scalar @$entries, '<', 25, 'beyond which it does not go');

# ---- read ----

($error, undef, $entries, $bytes) = get('a.txt');
is_deeply([$error, $bytes, $entries->[0][2]], [0, 'new', 3],
    'a file is read, its size first');
(undef, undef, $entries, $bytes) = get('a.txt', 1);
is_deeply([$entries->[0][2], $bytes], [3, undef], 'or its size alone');
($error, undef, undef, $bytes) = get('d/e/b');
is_deeply([$error, $bytes], [0, undef], 'an empty one has no bytes');
brief("open('m', 'wb').write(bytes(i % 251 for i in range(3_000_001)))");
(undef, undef, undef, $bytes) = get('m');
ok($bytes eq substr(join('', map { chr } 0 .. 250) x 12000, 0, 3_000_001),
    'three million bytes come as they are');

brief("os.symlink('/etc/passwd', 'passwd'); os.symlink('../../etc', 'up')");
is((get('nothing'))[0], ENOENT, 'no file');
is((get('d'))[0], EISDIR, 'a folder is no file');
is((get('pipe'))[0], EOPNOTSUPP, 'nor is a pipe, and nobody waits for it');
is((get('passwd'))[0], EOPNOTSUPP, 'nor a link, wherever it leads');
is((get('up/passwd'))[0], ENOTDIR, 'a link on the way leads nowhere');
is((get($_))[0], EINVAL, "'$_' is no name")
    for '', '/etc/passwd', '../etc/passwd', 'd/../../x', 'd//e/b';

# ---- while it is read ----

brief(<<'END');
import threading, time
stop = False
def grow():
    with open('g', 'ab', 0) as f:
        while not stop:
            f.write(b'x' * 100)
open('g', 'wb').write(b'x' * 2_000_000)
t = threading.Thread(target=grow); t.start()
END
$kernel->send_packet(Retort::Kernel::GET, ++$kernel->{run}, 0, 0, [1], 'g');
my $entry = $kernel->message;
select undef, undef, undef, 0.2;
($error, undef, undef, $bytes) = $kernel->asked;
is($error, ESTALE, 'a file that grows meanwhile is told as such');
cmp_ok(length $bytes, '<', unpack('Q', $entry->{parts}[1]), 'before its last byte');
is_deeply(brief("stop = True; t.join()"), ['ok'], 'it can be stopped');

$kernel->send_packet(Retort::Kernel::GET, ++$kernel->{run}, 0, 0, [1], 'm');
$kernel->message for 1, 2;
$kernel->data('', Retort::Kernel::ABORT);
($error, undef, undef, $bytes) = $kernel->asked;
is($error, ECANCELED, 'who reads can give up');
cmp_ok(length($bytes // ''), '<', 2_900_000, 'and need not take it all');
(get('a.txt'));
$kernel->data('', Retort::Kernel::ABORT);
is_deeply(brief('1'), ['result:1', 'ok'], 'giving up too late means nothing');

# ---- deleted ----

is(del('a.txt'), 0, 'a file is deleted');
is(del('a.txt'), ENOENT, 'once');
is(del('d'), ENOTEMPTY, 'a folder that is not empty stays');
is(del('d', 0, 1), 0, 'unless all of it is meant');
is_deeply(brief("os.path.exists('/etc/passwd'), os.path.exists('d')"),
    ['result:(True, False)', 'ok'], 'and links in it were not followed');
is(del('passwd'), 0, 'a link is deleted');
is(del('pipe'), 0, 'a pipe as well');
is(del('up/x'), ENOTDIR, 'nothing behind a link');
is(del('n', 0, 1), 0, 'a deep folder goes') or diag($!);

is($kernel->end, 0, 'the kernel ends with its channel');
done_testing();
