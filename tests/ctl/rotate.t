#!/usr/bin/perl

# key rotate: a new key in the place of the others, in one step; key fetch: one
# that was kept, as long as it is good.

use strict;
use warnings;

use Cwd qw(abs_path);
use Digest::SHA qw(sha256_hex);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use JSON::PP;
use POSIX ();
use Test::More;

my $top = abs_path(dirname(abs_path(__FILE__)) . '/../..');
my $dir = tempdir(CLEANUP => 1);
my @k = ('--keys', "$dir/keys");

plan skip_all => 'needs root' if $> != 0;


sub ctl {
    my $pid = open(my $f, '-|') // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>', "$dir/err";
        exec "$top/objs/retortctl", @_ or POSIX::_exit(127);
    }

    my $out = do { local $/; <$f> } // '';
    close $f;
    chomp $out;
    return ($? >> 8, $out);
}


sub slurp { open my $f, '<', shift or return ''; local $/; return <$f> // '' }

sub lines { return [sort split /\n/, slurp("$dir/keys")] }

sub line { return "$_[0]:" . sha256_hex($_[1]) . ($_[2] // '') }


# rotation

my (undef, $bob) = ctl('key', 'add', 'bob', @k);
my (undef, $one) = ctl('key', 'add', 'alice', '--profile', 'small', @k);
ctl('key', 'add', 'alice', '--profile', 'small', @k);
my ($code, $new) = ctl('key', 'rotate', 'alice', @k);
is($code, 0, 'keys are rotated');
is_deeply(lines(), [sort(line('bob', $bob), line('alice', $new, ':small'))],
          'a new one with the same rights is in the place of all of them');
is((ctl('key', 'rotate', 'nobody', @k))[0], 1, 'who has none gets none');

my (undef, $big) = ctl('key', 'add', 'alice', '--profile', 'big', @k);
is((ctl('key', 'rotate', 'alice', @k))[0], 1,
   'of different rights it is told that one has to choose');
is_deeply(lines(), [sort(line('bob', $bob), line('alice', $new, ':small'),
    line('alice', $big, ':big'))], 'and nothing has changed');
($code, my $next) = ctl('key', 'rotate', 'alice', '--id',
    substr(sha256_hex($big), 0, 12), @k);
is_deeply(lines(), [sort(line('bob', $bob), line('alice', $new, ':small'),
    line('alice', $next, ':big'))], 'by its id one is rotated alone');
($code, $next) = ctl('key', 'rotate', 'alice', '--profile', 'a,b', @k);
is_deeply(lines(), [sort(line('bob', $bob), line('alice', $next, ':a,b'))],
          'or all, with the rights that are said');
is((ctl('key', 'rotate', 'alice', '--profile', ',', @k))[0], 2,
   'which are names');

ctl('key', 'add', 'carol', '--scope', 'files,admin',
    @k);
(undef, $new) = ctl('key', 'rotate', 'carol', @k);
is_deeply(lines(), [sort(line('bob', $bob), line('alice', $next, ':a,b'),
    line('carol', $new, '::files,admin'))], 'and scopes stay');
ctl('key', 'revoke', 'carol', @k);

# what is kept

is((ctl('key', 'fetch', 'alice', @k))[0], 1, 'a key is not kept by itself');
($code, $next) = ctl('key', 'rotate', 'alice', '--save', @k);
is_deeply([ctl('key', 'fetch', 'alice', @k)], [0, $next],
          'one that was saved is fetched');
is_deeply(decode_json((ctl('key', 'fetch', 'alice', '--json', @k))[1]),
          { apiKey => $next }, 'as Azure gives it, too');
is((stat "$dir/keys.alice.key")[2] & 07777, 0600, 'it is root\'s to read');
unlike(slurp("$dir/keys"), qr/$next/, 'and not in the file of keys');
($code, $new) = ctl('key', 'rotate', 'alice', @k);
isnt($new, $next, 'another rotation');
is_deeply([ctl('key', 'fetch', 'alice', @k)], [0, $new],
          'keeps the new one in its place');
is((ctl('key', 'fetch', 'bob', @k))[0], 1, 'others are not kept by that');
ctl('key', 'revoke', 'alice', @k);
is((ctl('key', 'fetch', 'alice', @k))[0], 1, 'one that is revoked is gone');
ok(!-e "$dir/keys.alice.key", 'from where it was kept, too');

($code, $new) = ctl('key', 'add', 'bob', '--save', @k);
is_deeply([ctl('key', 'fetch', 'bob', @k)], [0, $new], 'also a first one');
ctl('key', 'revoke', 'bob', '--id', substr(sha256_hex($bob), 0, 12), @k);
is_deeply([ctl('key', 'fetch', 'bob', @k)], [0, $new],
          'which stays if another one is revoked');

open my $f, '>', "$dir/keys.bob.key" or die;
print $f 'x' x 64, "\n";
close $f;
is((ctl('key', 'fetch', 'bob', @k))[0], 1, 'what is no good key is not told');
unlink "$dir/keys.bob.key";
symlink '/etc/passwd', "$dir/keys.bob.key";
is_deeply([ctl('key', 'fetch', 'bob', @k)], [1, ''],
          'nor what is behind a symbolic link');
is((ctl('key', 'fetch', $_, @k))[0], 1, 'nor for a name that is none')
    for '../bob', '', 'x' x 300;

# a rotation leaves one key, however many are asked for at once

my @pids = map {
    my $pid = fork // die;
    if (!$pid) {
        ctl('key', 'rotate', 'bob', @k);
        POSIX::_exit(0);
    }
    $pid;
} 1 .. 6;
waitpid $_, 0 for @pids;
is(scalar @{lines()}, 1, 'rotations at once leave one key');

done_testing;
