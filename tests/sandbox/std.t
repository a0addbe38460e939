#!/usr/bin/perl

# Descriptors 0 to 2 of a session are good for every cell, whatever another one
# did to them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

my $s = Retort::Service->new(profiles => {
    default => { import => 'numpy matplotlib.pyplot' },
});
my $box = $s->session;


sub here { return $s->run($_[0], sandbox_id => $box) }

sub sum { return join ' ', map { $_ // '-' } @{ $_[0] }{qw(status state)} }


my $close = 'import os
for n in range(3): os.close(n)
print("closed")';
my $write = 'import os
os.write(1, b"one\n"); os.write(2, b"two\n"); print("three")
print(repr(os.read(0, 1)))';

my $r = here($close);
is(sum($r), 'ok kept', 'a cell closes its standard streams');
is($r->{stdout}, "closed\n", 'and is heard all the same');

for my $n (1, 2) {
    $r = here($write);
    is($r->{stdout}, "one\nthree\nb''\n", "the next one has stdin, stdout ($n)");
    is($r->{stderr}, "two\n", "and stderr ($n)");
}

is($s->bash('echo shell; exec 1>&-', sandbox_id => $box)->{stdout}, "shell\n",
   'bash has them');
is(here($write)->{stdout}, "one\nthree\nb''\n", 'and closes its own only');

here('import os
os.dup2(os.open("turned", os.O_WRONLY | os.O_CREAT), 1)');
here('os.write(1, b"away")');
is(here('print(open("turned").read())')->{stdout}, "away\n",
   'what a cell turned elsewhere stays there');

# matplotlib crashes if somebody else closed the file of a font

here($close);
$box = $s->session;

for my $n (1 .. 3) {
    is(sum(here($close)), 'ok kept', "streams are closed ($n)");
    $r = here('import matplotlib.pyplot as plt; plt.plot([1, 3]); plt.title("a")');
    is(sum($r), 'ok kept', "a plot ($n)");
    is(scalar @{ $r->{artifacts} }, 1, "with its picture ($n)");
    is(sum(here($close)), 'ok kept', "they are closed again ($n)");
    is(sum(here('os._exit(1)')), 'killed restored', "the session is put back ($n)");
}

$s->end;
done_testing;
