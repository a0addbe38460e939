package Retort::Audit;

# The log of runs, read as its documentation says, without retortctl.
#
#   my @lines = audit_lines($dir);      # decoded; dies if the chain is broken

use strict;
use warnings;

use Cwd qw(abs_path);
use Digest::SHA qw(sha256_hex);
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Temp ();
use JSON::PP;
use POSIX ();
use Test::More;

our @EXPORT_OK = qw(audit_text audit_lines audit_dir audit_verify);

my $top = abs_path(dirname(__FILE__) . '/../../..');


# a directory that the front of a test may write

sub audit_dir {
    my $dir = File::Temp->newdir('retort-front-audit-XXXXXX', TMPDIR => 1);

    chown 65534, 65534, "$dir";
    chmod 0700, "$dir";
    return $dir;
}


sub audit_text {
    my ($dir) = @_;
    my $all = '';

    for my $path (sort glob "$dir/*.jsonl") {
        open my $f, '<:raw', $path or die "$path: $!";
        local $/;
        $all .= <$f> // '';
    }

    return $all;
}


sub audit_lines {
    my ($dir) = @_;
    my ($n, $prev, @all) = (0, '0' x 64);

    for my $line (split /\n/, audit_text($dir)) {
        $line =~ /^(.*),"hash":"([0-9a-f]{64})"\}$/s or die "no line: $line";
        die "wrong hash: $line" if sha256_hex($1) ne $2;

        my $o = JSON::PP->new->utf8->decode($line);
        die "broken chain: $line" if $o->{prev} ne $prev || $o->{n} != ++$n;
        ($prev) = $o->{hash};
        push @all, $o;
    }

    return @all;
}


# retortctl's exit code, and what it prints

sub audit_verify {
    my (@args) = @_;

    my $pid = open(my $f, '-|') // die "fork: $!";

    if ($pid == 0) {
        open STDERR, '>&', \*STDOUT;
        exec "$top/objs/retortctl", 'audit', 'verify', @args
            or POSIX::_exit(127);
    }

    my $out = do { local $/; <$f> } // '';
    close $f;
    return ($? >> 8, $out);
}


1;
