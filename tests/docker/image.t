#!/usr/bin/perl

# auto/image --docker: what a container has is what a namespace sandbox has,
# file by file, and the same tree gives the same image.

use strict;
use warnings;

use Digest::SHA;
use FindBin;
use Test::More;

use lib "$FindBin::Bin/../lib";
use Retort::Engine;

my $top = $Retort::Engine::TOP;
my $e = Retort::Engine->get;
my $id = $e->image;

# what the engine itself puts into every container
my $engines = qr{^(?:\.dockerenv|dev/.*|etc/(?:hosts|hostname|resolv\.conf
    |mtab)|(?:proc|sys)/.*)$}x;

$ENV{DOCKER_HOST} = 'unix://' . $e->socket;


# path → kind, mode, owner, and what it holds or leads to

sub tree {
    my (@command) = @_;
    my %tree;

    open my $f, '-|', @command or die "$command[0]: $!";
    while (my $line = <$f>) {
        my ($path, $what) = $line =~ /^(?:\.\/)?(.*?)\/?\t(.*)$/ or next;
        $tree{$path} = $what if $path !~ m{^\.?$} && $path !~ $engines;
    }
    close $f or die "$command[0]: $?";

    return \%tree;
}


my $lister = <<'PY';
import hashlib, sys, tarfile
with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as tar:
    sums = {}
    for m in tar:
        if m.isfile():
            sums[m.name] = hashlib.md5(tar.extractfile(m).read()).hexdigest()
        what = sums.get(m.name) or sums.get(m.linkname) or m.linkname
        kind = "dir" if m.isdir() else "link" if m.issym() else "file"
        mode = "" if kind == "link" else oct(m.mode & 0o7777)
        print(m.name + "\t" + " ".join((kind, mode, f"{m.uid}:{m.gid}", what)))
PY


sub listed { tree('sh', '-ec', "$_[0] | python3 -c '$lister'") }


my $created = $e->docker('create', '--network', 'none', $id, '/nothing')
    =~ s/\s//gr;
chomp(my $root = `$top/auto/image --print`);

my $has = listed("docker export $created");
my $should = listed("tar -C $root --numeric-owner -c .");
my $layer = listed("tar -C $top/objs/layer --owner=0 --group=0"
    . " --exclude='./.*' --exclude=.compiled -c .");

$e->docker('rm', $created);
%$should = (%$should, %$layer);

# runc gives a tmpfs the mode of what it covers
like($should->{tmp}, qr/^dir 0o755 /, 'there is one difference');
$should->{tmp} =~ s/0o755/0o1777/;

cmp_ok(scalar keys %$should, '>', 10_000, 'there is something to compare');

my @missing = grep { !defined $has->{$_} } sort keys %$should;
my @more = grep { !defined $should->{$_} } sort keys %$has;
my @other = grep { defined $has->{$_} && $has->{$_} ne $should->{$_} }
    sort keys %$should;

is_deeply(\@missing, [], 'no file of a namespace sandbox is missing');
is_deeply(\@more, [], 'no file is there that a namespace sandbox has not');
is_deeply([map {"$_: $has->{$_}, not $should->{$_}"} @other], [],
    'kind, mode, owner and content of each are the same');

my $again = `$top/auto/image --docker`;
is($again, "$id\n", 'the same tree is the same image');
is(`$top/auto/image --docker --print`, "$id\n", 'which --print finds');
like($id, qr/^sha256:[0-9a-f]{64}$/, 'it is named by its digest');

my $conf = $e->inspect($id)->{Config};
is($conf->{User}, '65534:65534', 'by itself it does not run as root');

{
    local $ENV{DOCKER_HOST} = 'unix:///nowhere/sock';
    my $said = `$top/auto/image --docker 2>&1`;
    ok($? != 0, 'without an engine it fails');
    like($said, qr/no engine answers/, 'and says why');
}

done_testing();
