#!/usr/bin/perl

# The fence of Qwen's dialect: the contract's, or one that holds the text.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

use constant { THREE => 0, LONGER => 1 };

my $tick = chr 96;
my $f;

sub text {
    my ($code) = @_;

    return $f->get(POST => '/code_interpreter', { timeout => 0,
                   params => { code => $code } }, RETORT_API => 'qwen')->{body};
}

for my $fence (THREE, LONGER) {
    $f->stop if defined $f;
    $f = Retort::Front->start(fence => $fence);
    is(text('out("plain\n")'), "stdout:\n\n```\nplain\n\n```",
       'a text without backticks is the same in either');
    is(text('out(chr(27) . "[1m")'), "stdout:\n\n```\n\e[1m\n```",
       'and keeps its escape sequences');
    my $want = $tick x ($fence == LONGER ? 5 : 3);
    is(text('out(chr(96) x 4)'), "stdout:\n\n$want\n````\n$want",
       $fence == LONGER ? 'longer than what is inside' : 'three, as in the tool');
}

done_front($f);
