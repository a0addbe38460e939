#!/usr/bin/perl

# What the kernel's side can do, once a tenant took it over: nothing but to its
# own run.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(output => 1000, image => 5000, artifacts => 3);
my $r;

sub sum { return join ' ', @{$_[0]{json}}{qw(status state)} }

sub rss {
    open my $fh, '<', "/proc/$f->{pid}/status" or return 0;
    my ($kb) = join('', <$fh>) =~ /VmRSS:\s+(\d+)/;
    return $kb;
}

# packets that are none

my %broken = (
    'an empty packet head' => 'raw("x")',
    'a packet of zeroes' => 'raw("\0" x 32)',
    'an unknown version' => 'raw(pack "CCSLLLL4", 9, 113, 0, $run, (0) x 6)',
    'an unknown type' => 'raw(head(200, 0))',
    'a type of the front' => 'raw(head(2, 0))',
    'a forged length' => 'raw(head(103, 500, 1, 0, 500) . "x")',
    'more than the parts say' => 'raw(head(103, 9, 1, 0, 3) . "x" x 9)',
    'more without a head' => 'raw(head(120, 3) . "abc")',
    'an empty more' => 'raw(head(103, 1, 1, 0, 9) . "x"); raw(head(120, 0))',
    'a head inside a message' => 'raw(head(103, 1, 1, 0, 9) . "x"); out("y")',
    'an oversized packet' => 'raw(head(103, 0, 1, 0, 40000) . "x" x 40000)',
    'an unknown stream' => 'say_(103, 7, 0, "x")',
    'an answer to no file' => 'say_(115, 0, 0)',
);

for my $what (sort keys %broken) {
    $r = $f->execute({ code => "out('a'); $broken{$what}; nap(20)" });
    is(sum($r), 'killed gone', "$what ends the run as killed");
}

# the ends of a run

$r = $f->execute({ code => '$v{mute} = 1', timeout => 0.2 });
is(sum($r), 'timeout gone', 'who never says done is late');
$r = $f->execute({ code => 'done(0); done(1); out("more")' });
is(sum($r), 'ok gone', 'only the first done counts');
$r = $f->execute({ code => 'raw(head(103, 1, 1, 0, 9) . "x"); nap(9)',
                   timeout => 0.2 });
is($r->{json}{stdout}, 'x', 'what was half said is kept');
$r = $f->execute({ code => 'POSIX::close($_) for 3 .. 60; nap(30)' });
is(sum($r), 'killed gone', 'who closes the channel is ended');
$r = $f->execute({ code => 'say_(8, 0, 0); say_(101, 0, 0); out("ok")' });
is($r->{json}{stdout}, 'ok', 'a reset or ready in between means nothing');
$r = $f->execute({ code => '{ local $run = $run + 1; out("forged"); done(1) }
                            out("true")' });
is($r->{json}{stdout}, 'true', 'packets of another run are nobody\'s');
$r = $f->execute({ code => 'sync() for 1 .. 50; out("ok")' });
is($r->{json}{stdout}, 'ok', 'any number of syncs is answered');
$r = $f->execute({ code => 'say_(105, 0, 0) for 1 .. 2000; out("ok")' });
is($r->{json}{status}, 'ok', 'asking and not listening blocks nobody');
$r = $f->execute({ code => 'if (fork) { out("x") } else { nap(20); exit }' });
is(sum($r), 'ok gone', 'a child that holds the pipes holds no answer');

# floods

my $before = rss();
$r = $f->execute({ code => 'fd1("x" x 65536) for 1 .. 1600', timeout => 20 });
is($r->{json}{status}, 'ok', '100 MB of output are drained');
like($r->{json}{stdout},
     qr/^x{750}\n\[… 104,856,600 of 104,857,600 bytes cut …\]\nx{250}$/,
     'the first and the last bytes are kept, the size is told');
$r = $f->execute({ code => 'out("y" x 3000000) for 1 .. 10' });
like($r->{json}{stdout}, qr/^y{750}\n\[… 29,999,000 of 30,000,000 b/,
     'in packets, too');
$r = $f->execute({ code => 'fd1("z") while 1', timeout => 0.5 });
is($r->{json}{status}, 'timeout', 'a byte at a time ends at the deadline');
$r = $f->execute({ code => 'out("z") while 1', timeout => 0.5 });
is($r->{json}{status}, 'timeout', 'a packet at a time, too');
$r = $f->execute({ code => 'raw(head(109, 0, 0, 0, 4294967295, 4294967295,
                            4294967295, 4294967295)); my $m = head(120, 32768)
                            . "x" x 32768; raw($m) while 1', timeout => 0.5 });
is($r->{json}{status}, 'timeout', 'sixteen gigabytes of form are dropped');
$r = $f->execute({ code => 'show(0, "text/plain", "x" x 500) for 1 .. 5000' });
is(scalar @{$r->{json}{outputs}}, 1000, 'outputs are counted');
like($r->{body}, qr/4000 further outputs dropped/, 'and the rest is told');
$r = $f->execute({ code => 'error("a" x 5000, "b" x 5000, "c", "d" x 900000);
                            done(1); $v{mute} = 1' });
ok(length $r->{body} < 20_000, 'an error has a bound');
$r = $f->execute({ code => 'say_(107, 0, 1000); say_(109, 0, 0, "text/html", "x")
                            for 1 .. 1000' });
is(scalar @{$r->{json}{artifacts}}, 3, 'files of one run are counted');
cmp_ok(rss() - $before, '<', 20_000, 'and the front has not grown by them');

# text that is none

$r = $f->execute({ code => 'fd1("a\0\xff\xed\xa0\x80\xc0\x80\xe2\x80\xa8" .
                                "\x1b]52;c;eA==\x07\xf0\x9f"); err("\xff")' });
is($r->{json}{status}, 'ok', 'bytes that are no text make valid JSON');
like($r->{json}{stdout}, qr/^a\x{fffd}{7}\x{2028}\x1b\]52;c;eA==\x07\x{fffd}/,
     'with replacement characters');
$r = $f->execute({ code => 'error("\xff", "\0", "\xfe", "\xfd"); done(1);
                            $v{mute} = 1' });
is($r->{json}{error}{name}, "\x{fffd}", 'in errors, too');

# pictures that are none

my @bad = (['"image/png", "GIF89a"', qr/not what its type/],
           ['"image/png", "\x89PNG\r\n\x1a\n" . "x" x 5000', qr/5000 are all/],
           ['"image/png", ""', qr/not what its type/]);

for my $b (@bad) {
    $r = $f->execute({ code => "show(0, $b->[0])" });
    like($r->{json}{outputs}[0]{not_stored}, $b->[1],
         "$b->[0] is not stored, and why");
}

$r = $f->execute({ code => 'show(0, "image/../../x", "y", "a" x 300, "z",
                            "application/javascript", "w")' });
is_deeply($r->{json}{artifacts}, [], 'unknown types are not stored');

is($f->execute({ code => 'out("fine")' })->{json}{stdout}, 'fine',
   'after all that the next cell is fine');

done_front($f);
