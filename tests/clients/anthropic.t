#!/usr/bin/perl

# Anthropic's API, as its official clients speak it: the one of today and the
# last of those before.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Clients;
use Retort::Messages;
use Test::More;

my $model = Retort::Messages->new(
    file => sub {
        return (text('See.'), use_('bash_code_execution', { command =>
            'echo 42; echo made > $OUTPUT_DIR/f.txt' })) if $_[0] == 0;
        return text('done');
    },
    cut => sub { [sub { print {$_[0]} (stream(text('a')))[0 .. 2] }] },
    busy => sub { [529, '{}'] },
);
my $s = $model->service;

my @env = (RETORT_URL => "http://127.0.0.1:$s->{port}",
           RETORT_KEY => $s->{key});

for my $what (qw(files messages)) {
    clients_run("anthropic_$what.mjs", @env, RETORT_SDK => $_)
        for '@anthropic-ai/sdk', '@anthropic-ai/sdk-0';
}

$s->end;
done_testing;
