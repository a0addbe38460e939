#!/usr/bin/perl

# A cell of one statement is compiled without its tree; nobody can tell.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Kernel;

plan skip_all => 'no sandbox image: run auto/image'
    unless Retort::Kernel::image();

my $kernel = Retort::Kernel->start();

for (
    ['x = 1', 'a value that is bound is not shown', 'ok'],
    ['x', 'a value is', 'result:1', 'ok'],
    ['x; x', 'the last of two alone', 'result:1', 'ok'],
    ['x;', 'and none before a semicolon', 'ok'],
    ['for i in range(2): i', 'nor one within a loop', 'ok'],
    ['if x: x', 'or behind a condition', 'ok'],
    ['(y := 5)', 'that of an expression that binds is', 'result:5', 'ok'],
    ['# nothing', 'a comment is no statement', 'ok'],
    ['x # why', 'and may stand behind one', 'result:1', 'ok'],
    ['  x', 'one that is indented', 'result:1', 'ok'],
    ["\n\nx\n", 'or has blank lines around it', 'result:1', 'ok'],
    ['None', 'None is not shown', 'ok'],
    ['"a"', 'a text is a value', "result:'a'", 'ok'],
    ['Out[2]', 'values are kept by their numbers', 'result:1', 'ok'],
    ['In[-1]', 'the cell itself is among the inputs', "result:'In[-1]'", 'ok'],
    ['_i', 'the one before has a name', "result:'In[-1]'", 'ok'],
    ['__import__("asyncio").sleep(0, 7)', 'a coroutine is a value',
        qr/^result:<coroutine/, 'ok'],
    ['await __import__("asyncio").sleep(0, 7)', 'what is awaited, too',
        'result:7', 'ok'],
    ['%who_ls int', 'a magic is one', qr/^result:\['i', 'x', 'y'\]/, 'ok'],
    ['from __future__ import annotations', 'the future', 'ok'],
    ['def f(a: nowhere): pass', '... goes for all cells that follow', 'ok'],
    ['x = = 1', 'what is no Python is told', qr/\nSyntaxError: invalid/, 'failed'],
    ['return 1', 'so is what can stand in a function alone',
        qr/\nSyntaxError: 'return'/, 'failed'],
    ['1/0', 'and what fails', qr/^error:ZeroDivisionError/, 'failed'],
) {
    my ($code, $name, @want) = @$_;
    my $got = Retort::Kernel::brief($kernel->run($code));

    is(scalar @$got, scalar @want, "$name ($code)") or diag explain $got;
    for my $i (0 .. $#want) {
        ref $want[$i] ? like($got->[$i], $want[$i], '...')
                      : is($got->[$i], $want[$i], '...');
    }
}

my ($error) = grep { $_->[0] eq 'error' } @{ $kernel->run('[][5]') };
like(join('', map { $_ // '' } grep { !ref } @$error), qr/\[\]\[5\]/,
    'a traceback quotes the line') or diag explain $error;

is_deeply(Retort::Kernel::brief($kernel->run(<<'END')), ["1:seen\n", 'ok'],
import ast
class Twice(ast.NodeTransformer):
    def visit_Constant(self, node):
        return ast.copy_location(ast.Constant(node.value * 2), node) \
            if isinstance(node.value, int) else node
get_ipython().ast_transformers.append(Twice()); print("seen")
END
    'who changes trees');
is_deeply(Retort::Kernel::brief($kernel->run('4')), ['result:8', 'ok'],
    '... gets each cell\'s');

is($kernel->end, 0, 'the kernel ends with its channel');
done_testing();
