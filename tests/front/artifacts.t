#!/usr/bin/perl

# Artifacts and their links: names, owners, quota, how long they are kept, and
# what a front that dies leaves behind.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(hmac_sha256_hex);
use Test::More;
use Time::HiRes qw(sleep time);

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

use constant { QUOTA => 1_048_576, BLOCK => 4096 };

my $f = Retort::Front->start(quota => QUOTA, keep => 3_600_000,
                             image => 2_000_000, artifacts => 500);
my $store = "$f->{dir}/store";
my @other = (RETORT_WORKSPACE => 'other');
my ($r, $r2, @a);

sub png {
    my ($what) = @_;
    return 'show(0, "image/png", "\x89PNG\r\n\x1a\n" . (' . $what . '));';
}

sub all { opendir(my $d, $store); return grep { !/^\.\.?$/ } readdir $d }

sub files { return grep { /^[0-9a-f]{32}\.png$/ } all() }

sub taken {
    my $sum = 0;
    $sum += BLOCK * (1 + int((-s "$store/$_") / BLOCK)) for files();
    return $sum;
}

# names

$r = $f->execute({ code => png('"one"') . png('"two"') . png('"one"') });
@a = @{$r->{json}{artifacts}};
is($a[0]{url}, $a[2]{url}, 'equal bytes have one link');
isnt($a[0]{url}, $a[1]{url}, 'others have another');
is(scalar(my @now = files()), 2, 'and there is one copy of them');
like($a[0]{file_id}, qr/^file_n1_[0-9a-f]{32}\.png$/, 'an id names the node');
is($a[0]{url}, 'http://h/static/' . $a[0]{file_id} =~ s/^file_n1_//r,
   'and the file that is served');
$r2 = $f->execute({ code => png('"one"') }, @other);
isnt(substr($r2->{json}{artifacts}[0]{url}, 0, -26), substr($a[0]{url}, 0, -26),
   'another workspace has files of its own');
is(substr($a[0]{url}, 0, -26), substr($a[1]{url}, 0, -26),
   'a name tells whose it is, to us');

my ($mode, $uid) = (stat "$store/.secret")[2, 4];
is(sprintf('%o', $mode & 0777) . " $uid", '600 65534',
   'the secret of the names is the front\'s alone');

# how long

my @sign = (RETORT_LINK_TAG => 'ab' x 8, RETORT_LINK_KEY => 'cd' x 32);
my $name = $a[0]{url} =~ s{.*/}{}r;

sub ends { my ($file) = @_; return time_of($file) + nsec($file) }

sub time_of { return (stat "$store/$_[0]")[9] }

sub nsec {
    my ($ns) = `stat -c %y \Q$store/$_[0]\E` =~ /\.(\d{9})/;
    return $ns + 0;
}

is(nsec($name), 3600, 'a file is kept for as long as the store keeps any');
$r = $f->execute({ code => png('"one"') }, @sign,
                 RETORT_LINK_EXPIRES => 100_000);
my ($e) = $r->{json}{artifacts}[0]{url} =~ /\?e=(\d+)&/;
is(ends($name), $e, 'or for as long as its link is good');
$r = $f->execute({ code => png('"one"') });
cmp_ok(ends($name), '>=', $e, 'and a later link never shortens that');

# links

$r = $f->execute({ code => png('"one"') }, @sign, RETORT_LINK_EXPIRES => 60);
my $url = $r->{json}{artifacts}[0]{url};
my ($signed, $e2) = $url =~ m{^http://h/static/(.*\?e=(\d+)&w=(?:ab){8})&s=};
is($url, "http://h/static/$signed&s="
   . substr(hmac_sha256_hex($signed, "\xcd" x 32), 0, 32), 'a link is signed');
ok(abs($e2 - time - 60) <= 2, 'for as long as the location says');
is($r->{json}{outputs}[0]{url}, $url, 'it is the same in the outputs');
is($r->{json}{markdown}, "![fig-001]($url)", 'and in the markdown');
$r = $f->execute({ code => png('"one"') }, @sign, RETORT_LINK_EXPIRES => 60,
                 HTTP_ACCEPT => 'text/markdown');
like($r->{body}, qr{\Q&w=\E(?:ab){8}&s=[0-9a-f]{32}\)$}, 'markdown is the same');
$r = $f->get('POST', '/code_interpreter', { timeout => 0,
                  params => { code => png('"one"') } },
             RETORT_API => 'qwen', @sign, RETORT_LINK_EXPIRES => 60);
like($r->{body}, qr{^!\[fig-001\]\(http://h/static/\Q$name\E\?e=\d+&w=(?:ab){8}&s=},
     'Qwen\'s, too');
is($f->execute({ code => '1' }, @sign)->{status}, 500,
   'half of what it takes to sign is refused');
unlike($f->log, qr/(?:cd){8}/, 'no key is ever logged');

# quota

$r = $f->execute({ code => 'for (1 .. 300) {' . png('"$_"') . '}' });
my @not = grep { !$_->{url} } @{$r->{json}{outputs}};
is($r->{json}{status}, 'ok', 'the run goes on when the store is full');
like($not[-1]{not_stored}, qr/^the workspace's store is full: 104\d+ of 1048576/,
     'what was not stored says why');
is(taken() - BLOCK, QUOTA, 'the quota holds, and can be used');
is(scalar @{$f->execute({ code => png('"small"') }, @other)->{json}{artifacts}},
   1, 'another workspace has its own');
is(scalar @{$f->execute({ code => png('"one"') })->{json}{artifacts}}, 1,
   'what is there already needs no room');

# a front that dies, and its successor

sub again {
    kill 'KILL', $f->{pid};
    $f->ended;
    $f->run();
}

again();
$r = $f->execute({ code => png('"one"') });
is($r->{json}{artifacts}[0]{url}, $a[0]{url}, 'names are the same after a crash');
$r = $f->execute({ code => png('"new"') });
like($r->{json}{outputs}[0]{not_stored}, qr/store is full/, 'so is the count');
unlink map { "$store/$_" } files();
$f->{o}{quota} = 1e9;
again();

for my $turn (1 .. 6) {
    my @c = map { $f->client } 1 .. 3;
    $_->send_request($f->params('POST', '/execute',
                                CONTENT_TYPE => 'application/json'),
                     JSON::PP->new->encode({ code => 'for (1 .. 400) {'
                         . png('"$_" . "x" x 500_000') . 'nap(0.001) }' }))
        for @c;
    wait_for(sub { files() });
    sleep rand 0.05;
    again();
    unlink map { "$store/$_" } files() if $turn < 6;
}

$f->get('GET', '/sandboxes');
is(scalar(grep { /^\.part/ } all()), 0, 'no part of a file is left');
my @broken = grep {
    open my $fh, '<', "$store/$_" or die;
    local $/;
    my $data = <$fh>;
    $data !~ /^\x89PNG\r\n\x1a\n\d+(x+)$/ || length $1 != 500_000;
} files();
is_deeply(\@broken, [], 'and each file is whole');

unlink map { "$store/$_" } files();
$f->{o}{quota} = QUOTA;
again();
$f->execute({ code => 'for (1 .. 3) {' . png('"$_" x 3000') . '}' });
my $have = taken();
again();
$r = $f->execute({ code => png('"x" x (' . (QUOTA - $have) . ' - 100)') });
is(scalar @{$r->{json}{artifacts}}, 1, 'exactly what the count leaves fits');
is(scalar @{$f->execute({ code => png('1') })->{json}{artifacts}}, 0,
   'and no more');

# without its secret to itself it does not start

kill 'TERM', $f->{pid};
$f->ended;
chmod 0644, "$store/.secret";
is($f->run()->ended, 256, 'a secret that others can read ends the start');
like($f->log, qr/\.secret is damaged, or not the front's alone/, 'with its reason');
chmod 0600, "$store/.secret";
truncate "$store/.secret", 16;
is($f->run()->ended, 256, 'a damaged one, too');
unlink "$store/.secret";
symlink '/etc/hostname', "$store/.secret";
is($f->run()->ended, 256, 'and what is no file');
unlink "$store/.secret";

# the sweep, where time was shorter when the files came

unlink map { "$store/$_" } files();
$f->{o}{keep} = 5000;
$f->run();
$f->execute({ code => 'for (1 .. 256) {' . png('"$_"') . '}' });
$f->{o}{keep} = 3_600_000;
again();
$r = $f->execute({ code => png('"one"') });
like($r->{json}{outputs}[0]{not_stored}, qr/store is full/, 'it is full');
my $had = files();
ok(wait_for(sub {
    $f->execute({ code => png('"one"') })->{json}{artifacts}[0]
}), 'when there is no room, what is over goes at once');
is($had, 256, 'where the store was full');
kill 'TERM', $f->{pid};
$f->ended;

# the sweep as it comes

$f->{o}{keep} = 1000;
unlink map { "$store/$_" } files();
$f->run();
$f->execute({ code => png('"long"') }, @sign, RETORT_LINK_EXPIRES => 600);
my ($long) = files();
$f->execute({ code => png('"short"') });
is(scalar(@now = files()), 2, 'two files');
ok(wait_for(sub { files() == 1 }), 'one goes when its time is over');
is_deeply([files()], [$long], 'the other one\'s link is good for longer');

done_front($f);
