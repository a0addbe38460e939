#!/usr/bin/perl

# The artifact store: files are whole or not there, whatever the disk does.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

# the disk is ours alone: mounts of this test are nobody else's
use constant { SYS_unshare => 272, CLONE_NEWNS => 0x20000 };

syscall(SYS_unshare, CLONE_NEWNS) == 0
    && system('mount', '--make-rprivate', '/') == 0
    or plan skip_all => 'no mount namespace can be made';

my $f = Retort::Front->new(image => 2_000_000, artifacts => 100);
my $store = "$f->{dir}/store";
my $r;

system('mount', '-t', 'tmpfs', '-o',
       'size=256k,nr_inodes=20,mode=0755,uid=65534,gid=65534', 'retort-test',
       $store) == 0 or plan skip_all => 'no tmpfs can be mounted';

END { my $rc = $?; $f->stop(); system('umount', $store); $? = $rc }

# left by a front that died
open my $part, '>', "$store/.part-" . 'ab' x 16 . '.png';
print $part 'x';
close $part;

$f->run();

sub png { return 'show(0, "image/png", "\x89PNG\r\n\x1a\n" . "x" x (' . $_[0] . '))' }

sub files { opendir(my $d, $store); return grep { !/^\.(\.|secret)?$/ } readdir $d }

$r = $f->execute({ code => png(1000) });
is($r->{json}{status}, 'ok', 'a picture is stored');
my @now = files();
is(scalar @now, 1, 'what a dead front left half-written is gone');

$r = $f->execute({ code => png(1_000_000) });
my $o = $r->{json}{outputs}[0];
is($r->{json}{status}, 'ok', 'a full disk does not fail the cell');
is($o->{url}, undef, 'the picture has no link');
is($o->{not_stored}, 'the artifact store is full', 'but a reason');
like($r->{json}{markdown}, qr/fig-001.png was not stored: the artifact/,
     'in Markdown, too');
is(scalar(@now = files()), 1, 'no broken file is left');
like($f->log, qr/artifact store: No space left/, 'the log has it');

$r = $f->execute({ code => png(5000) });
like($r->{json}{outputs}[0]{url}, qr/\.png$/, 'what fits is stored again');

$r = $f->execute({ code => 'for (1 .. 40) { ' . png('10 + $_') . ' }' });
my @stored = grep { $_->{url} } @{$r->{json}{outputs}};
is(scalar @{$r->{json}{outputs}}, 40, 'when names run out, outputs do not');
is(scalar @{$r->{json}{artifacts}}, scalar @stored, 'artifacts are those stored');
cmp_ok(scalar @stored, '<', 20, 'which are as many as there was room');
is(scalar(@now = files()), 2 + @stored, 'and the store has just these');
ok(!(grep { !/^[0-9a-f]{32}\.png$/ } @now), 'under names of the service');

my %name = map { $_->{name} => 1 } @{$r->{json}{outputs}};
is(scalar keys %name, 40, 'each has a number of its own');

chmod 0555, $store;
chown 0, 0, $store;
$r = $f->execute({ code => png(99) });
is($r->{json}{outputs}[0]{not_stored}, 'the artifact store failed',
   'a store that cannot be written is told, too');

done_front($f);
