#!/usr/bin/perl

# key: the file of keys is replaced whole, a key is shown once, and profile
# check says what retortd would say.

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
my $err = "$dir/err";

plan skip_all => 'needs root' if $> != 0;


# its exit code and what it prints

sub ctl {
    my $pid = open(my $f, '-|') // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>', $err;
        exec "$top/objs/retortctl", @_ or POSIX::_exit(127);
    }

    my $out = do { local $/; <$f> } // '';
    close $f;
    return ($? >> 8, $out);
}


sub slurp { open my $f, '<', shift or return ''; local $/; return <$f> }

sub spill {
    my ($path, $text) = @_;
    open my $f, '>', $path or die "$path: $!";
    print $f $text;
    close $f;
}


# add

my @k = ('--keys', "$dir/keys");
my $old = "# mine\n\nbob:" . 'A' x 64 . ":a,b\nthis is no key\n";
spill("$dir/keys", $old);
chmod 0640, "$dir/keys";
chown 0, 33, "$dir/keys";
my $inode = (stat "$dir/keys")[1];

my ($code, $key) = ctl('key', 'add', 'alice', '--profile', 'default,big', @k);
is($code, 0, 'a key is made');
like($key, qr/^[0-9a-f]{64}\n\z/, 'and printed');
chomp $key;
is(slurp("$dir/keys"), $old . 'alice:' . sha256_hex($key) . ":default,big\n",
   'its hash stands at the end, all other lines as they were');
unlike(slurp("$dir/keys"), qr/$key/, 'the key itself does not');
like(slurp($err), qr/nginx.*reload/, 'it is told that nginx has to read it');
my @st = stat "$dir/keys";
is($st[2] & 07777, 0640, 'the mode stays');
is_deeply([@st[4, 5]], [0, 33], 'so do owner and group');
isnt($st[1], $inode, 'it is another file, in the place of the old one');

($code, my $second) = ctl('key', 'add', 'alice', @k);
chomp $second;
isnt($second, $key, 'another key is another key');

# list

($code, my $list) = ctl('key', 'list', @k);
is($code, 0, 'keys are listed');
like($list, qr/^@{[substr sha256_hex($key), 0, 12]} alice\s+default,big\s+execute,files$/m,
     'by a part of their hash');
like($list, qr/^a{12} bob\s+a,b\s/m, 'those of other hands, too');
unlike($list, qr/\Q$key\E|@{[sha256_hex($key)]}/, 'but never the key, nor all '
       . 'of its hash');
my $json = decode_json((ctl('key', 'list', '--json', @k))[1]);
is(scalar @{$json->{keys}}, 3, 'as JSON: three');
is($json->{keys}[2]{profiles}, undef, 'of which one may use every profile');

# revoke

($code) = ctl('key', 'revoke', 'alice', '--id', substr(sha256_hex($key), 0, 12),
              @k);
is($code, 0, 'one key is removed');
is(slurp("$dir/keys"), $old . 'alice:' . sha256_hex($second) . "\n",
   'and no other');
is((ctl('key', 'revoke', 'alice', '--id', '', @k))[0], 1,
   'an id that is not whole removes nothing');
is((ctl('key', 'revoke', 'nobody', @k))[0], 1, 'nor does one without keys');
is((ctl('key', 'revoke', 'alice', @k))[0], 0, 'all of a workspace are removed');
is(slurp("$dir/keys"), $old, 'and all is as it was');

# what goes wrong

for my $bad ('a b', 'x:y', '', "a\nb", 'w' x 65, '../x#') {
    is((ctl('key', 'add', $bad, @k))[0], 2, 'a bad name of a workspace is told');
}

is((ctl('key', 'add', 'a', '--profile', 'x,,y', @k))[0], 2, 'or of a profile');
is((ctl('key', 'add', 'a', '--scope', $_, @k))[0], 2, 'or of a scope')
    for 'root', 'execute,', '', 'execute files';
is(slurp("$dir/keys"), $old, 'and the file is as it was');
is((ctl('key', 'list', '--keys', "$dir/none"))[0], 1,
   'a file that is not there is told');
is((ctl('key', 'add', 'a', '--keys', "$dir/none/keys"))[0], 1,
   'so is a folder that is not');
($code) = ctl('key', 'add', 'first', '--keys', "$dir/new");
is($code, 0, 'a first key makes the file');
is((stat "$dir/new")[2] & 07777, 0600, 'that is root\'s alone');

for (['--scope', 'execute'], ['--profile', 'p', '--scope', 'files,admin']) {
    ctl('key', 'add', 'scoped', @$_, '--keys', "$dir/scopes");
}
like(slurp("$dir/scopes"), qr/^scoped:\w{64}::execute\nscoped:\w{64}:p:files,admin\n\z/,
     'scopes have their place in a line');
$json = decode_json((ctl('key', 'list', '--json', '--keys', "$dir/scopes"))[1]);
is_deeply([map { [@$_{qw(profiles scopes)}] } @{$json->{keys}}],
          [[undef, 'execute'], ['p', 'files,admin']], 'and in the list');

symlink 'keys', "$dir/link";
ctl('key', 'add', 'alice', '--keys', "$dir/link");
ok(-l "$dir/link", 'a symbolic link stays one');
like(slurp("$dir/keys"), qr/^alice:/m, 'and its file gets the key');

# two at once: none is lost

my @pids = map {
    my $n = $_;
    my $pid = fork // die;
    if (!$pid) {
        ctl('key', 'add', "w$n", '--keys', "$dir/many");
        POSIX::_exit(0);
    }
    $pid;
} 1 .. 8;
waitpid $_, 0 for @pids;
is(scalar(() = slurp("$dir/many") =~ /^w\d:/mg), 8,
   'of keys that are made at once none is lost');
is_deeply([grep { /retortctl/ } map { s{.*/}{}r } glob "$dir/.* $dir/*"], [],
          'no file is left beside them');

# reload

my $pid = fork // die;
if (!$pid) {
    local $SIG{HUP} = sub { exit 42 };
    spill("$dir/up", '');
    sleep 30;
    exit 1;
}
select undef, undef, undef, 0.02 until -e "$dir/up";
spill("$dir/pid", "$pid\n");
is((ctl('key', 'add', 'x', '--reload', '--pid-file', "$dir/pid", @k))[0], 0,
   'nginx can be told');
waitpid $pid, 0;
is($? >> 8, 42, 'by the signal that it reloads by');
spill("$dir/pid", "no pid\n");
is((ctl('key', 'add', 'x', '--reload', '--pid-file', "$dir/pid", @k))[0], 1,
   'a pid file without a pid is told');

# profile check

spill("$dir/p.conf", "memory 512m 1g\n# x\ncpu 1 2\n");
my $out;
($code, $out) = ctl('profile', 'check', "$dir/p.conf");
is($code, 0, 'a good profile is good');
is($out, "p: good\n", 'and named');
spill("$dir/p.conf", "memory 512m 1g\n\ncpu much\n");
is((ctl('profile', 'check', "$dir/p.conf"))[0], 1, 'a bad one is not');
like(slurp($err), qr{/p\.conf:3: }, 'with the file and the line');
spill("$dir/p.conf", "memory 2g 1g\n");
is((ctl('profile', 'check', "$dir/p.conf"))[0], 1,
   'nor one whose default is above its ceiling');
is((ctl('profile', 'check', "$dir/p.txt"))[0], 1, 'nor what is no profile');
is((ctl('profile', 'check', '--conf', "$dir/none.conf"))[0], 1,
   'nor a service without a file');

done_testing;
