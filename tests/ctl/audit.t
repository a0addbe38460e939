#!/usr/bin/perl

# audit verify: what was done to a log of runs is found; a disk that is full,
# and days and parts, are not mistaken for it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(sha256_hex);
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

use Retort::Audit qw(audit_dir audit_lines audit_text audit_verify);
use Retort::Front qw(wait_for);

plan skip_all => 'needs root' if $> != 0;

my $dir = audit_dir();


sub front { return Retort::Front->start(audit => "$dir", @_) }

sub files { return sort map { s{.*/}{}r } glob "$dir/*.jsonl" }

sub slurp { open my $f, '<:raw', shift or die "$!"; local $/; return <$f> }

sub spill {
    my ($path, $text) = @_;
    open my $f, '>:raw', $path or die "$path: $!";
    print $f $text;
    close $f;
    chown 65534, 65534, $path;
}

sub head { return join ':', @{(audit_lines($dir))[-1]}{qw(n hash)} }


# three files: two days and the newest; the clock is not waited for

for my $old ('2026-01-01.0001', '2026-01-02.0001', undef) {
    my $f = front();
    $f->execute({ code => 'out(1)' }) for 1 .. 3;
    $f->stop();
    my ($last) = reverse((files())[-1]);
    rename "$dir/$last", "$dir/$old.jsonl" if $old;
}

my @files = files();
my $told = head();

is(scalar @files, 3, 'a new day has a new file');
like(slurp("$dir/$files[0]"), qr/"event":"seal".*\n\z/,
     'the file of a day that is over ends with its seal');
is((audit_verify("$dir"))[0], 0, 'what nobody changed is good');
is((audit_verify("$dir", '--head', $told))[0], 0, '... also by its head');

my $json = JSON::PP->new->decode((audit_verify("$dir", '--json'))[1]);
is("$json->{n}:$json->{hash} $json->{runs} $json->{files}", "$told 9 3",
   'JSON says the same');


# each edit of a copy is found

my %whole = map { $_ => slurp("$dir/$_") } @files;

sub lines { return split /^/, $whole{$files[$_[0]]} }

# a line as somebody would write it who knows how

sub forged {
    my ($line, $old, $new) = @_;
    $line =~ s/$old/$new/;
    $line =~ s/,"hash":"[0-9a-f]{64}"\}\n\z//;
    return $line . ',"hash":"' . sha256_hex($line) . "\"}\n";
}

my @one = lines(1);
my @last = lines(2);
my @edits = (
    ['a byte of a line', 1, join '', map { s/"demo"/"dem0"/r } @one],
    ['one line is left out', 1, join '', @one[0 .. 2, 4 .. $#one]],
    ['the first line is left out', 0, join '', (lines(0))[1 .. 5]],
    ['two lines change places', 1, join '', @one[0, 2, 1, 3 .. $#one]],
    ['a line is there twice', 1, join '', @one[0, 1, 1 .. $#one]],
    ['the end of a day is cut off', 1, join '', @one[0 .. $#one - 2]],
    ['a day is emptied', 1, ''],
    ['a day is missing', 1, undef],
    ['a line is forged with its own hash', 1,
     join '', @one[0, 1], forged($one[2], 'demo', 'evil'), @one[3 .. $#one]],
    ['the very last line is changed', 2,
     join '', @last[0 .. $#last - 1], $last[-1] =~ s/stop/stap/r],
    ['something is added', 2, $whole{$files[2]} . "{\"n\":99}\n"],
    ['something is added in between', 1, join '', $one[0], "\n", @one[1 .. 9]],
    ['half a line is at the end', 2, substr $whole{$files[2]}, 0, -30],
    ['a gap is made up', 1, join '', $one[0], "x\n", forged($one[1],
      '"event":"\w+"', '"event":"gap","torn":2,"torn_sha256":"'
      . sha256_hex("x\n") . '"'), @one[2 .. $#one]],
);

for (@edits) {
    my ($what, $i, $text) = @$_;
    my $copy = tempdir(CLEANUP => 1);

    for my $n (0 .. 2) {
        my $new = $n == $i ? $text : $whole{$files[$n]};
        spill("$copy/$files[$n]", $new) if defined $new;
    }

    my ($rc, $said) = audit_verify($copy);
    is($rc, 1, "found: $what") or diag $said;
}

my $copy = tempdir(CLEANUP => 1);
spill("$copy/$_", $whole{$_}) for @files[0, 1];
is((audit_verify($copy))[0], 0,
   'a cut at the very end is not seen in what remains');
is((audit_verify($copy, '--head', $told))[0], 1, '... but by a head');

$copy = tempdir(CLEANUP => 1);
spill("$copy/$files[2]", $whole{$files[2]});
is((audit_verify($copy))[0], 0, 'old files may be removed');


# a front goes on behind a line that a power cut left half

spill("$dir/$files[2]", substr $whole{$files[2]}, 0, -30);
my $f = front();
$f->execute({ code => 'out(1)' });
my ($rc, $said) = audit_verify("$dir");
is($rc, 0, 'half a line is told of by the next one') or diag $said;
like(audit_text($dir), qr/"event":"gap","lost":0,"torn":\d{2,},/, '... as a gap');
$f->stop();


# a full disk

SKIP: {
    my $disk = tempdir('retort-front-disk-XXXXXX', TMPDIR => 1, CLEANUP => 1);

    skip 'no tmpfs can be mounted here', 9
        if system 'mount', '-t', 'tmpfs', '-o', 'size=16k,mode=777', 'audit',
                  $disk;
    mkdir "$disk/log";
    chown 65534, 65534, "$disk/log";

    for my $full (0, 1) {
        my $d = Retort::Front->start(audit => "$disk/log", audit_full => $full);
        my %status;

        spill("$disk/ballast", '');
        open my $b, '>', "$disk/ballast";
        1 while syswrite $b, 'x' x 512;
        close $b;

        my $ran = 0;
        for (1 .. 40) {
            my $r = $d->execute({ code => 'out("ran\n")' });
            $status{$r->{status}}++;
            $ran++ if $r->{body} =~ /ran/;
            is($r->{json}{error}{code}, 'audit_unavailable', 'why it is not run')
                if $r->{status} == 503 && $status{503} == 1;
        }

        if ($full) {
            is($ran, 40, 'go-on: all runs go on');
        } else {
            ok($status{503} && $ran + $status{503} == 40,
               'refuse: nothing runs without the line of its begin');
        }

        unlink "$disk/ballast";
        is($d->execute({ code => 'out(1)' })->{status}, 200,
           'with room, it runs again');
        $d->stop();

        ($rc, $said) = audit_verify("$disk/log", '--json');
        is($rc, 0, 'the chain is whole') or diag $said;
        cmp_ok(JSON::PP->new->decode($said)->{lost}, '>', 0,
               'and says how many lines are missing');
        unlink glob "$disk/log/*";
    }

    system 'umount', $disk;
}

done_testing();
