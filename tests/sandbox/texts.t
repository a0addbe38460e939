#!/usr/bin/perl

# Long results and long exceptions, through the whole service: their ends, how
# much is cut, and a link to all of it.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Service;
use Test::More;

my $s = Retort::Service->new(stopped => 1,
    profiles => { default => { output => '20000' } });

$s->{location} = <<"CONF";
location /qwen/ {
    retort_api qwen;
    retort_pass unix:$s->{dir}/run/front.sock;
    retort_auth_key_file $s->{dir}/keys;
    retort_static_url http://127.0.0.1:$s->{port}/static;
}
CONF
$s->configure;
$s->start;


# what is behind a link, as the web server gives it

sub fetched { return $s->get($_[0] =~ s{^http://[^/]+}{}r)->{content} }

my $r = $s->run("'first' + 'x' * 1_000_000 + 'last'");
like($r->{result}, qr/^'firstx+\n\[… 980,\d{3} of 1,000,011 bytes cut …\]\nx+last'$/,
    'a huge repr has its two ends, and says how much is between them');
cmp_ok(length $r->{result}, '<', 20_100, 'within the budget');
is(fetched($r->{artifacts}[0]{url}), "'first" . 'x' x 1_000_000 . "last'",
    'the link has all of it, byte by byte');
like($r->{markdown}, qr/\(\Q$r->{artifacts}[0]{url}\E\)$/, 'so has the markdown');

$r = $s->run("'é' * 300_000", sandbox_id => my $box = $s->session);
is(fetched($r->{artifacts}[0]{url}), "'" . "\xc3\xa9" x 300_000 . "'",
    'whatever its characters');
is($s->run('len(_)', sandbox_id => $box)->{result}, '300000',
    'and the session has the value');
$r = $s->run("print('p' * 50_000)\n'r' * 50_000\n");
is(join(' ', map { $_->{name} } @{ $r->{artifacts} }), 'result-001.txt output.txt',
    'text and result are each whole');

# exceptions

$r = $s->run("def f(n):\n    if n == 0:\n        raise ValueError('first' + "
    . "'\\n'.join(f'line {i}' for i in range(100_000)) + 'last')\n"
    . "    f(n - 1)\nf(300)");
my $e = $r->{error};
like($e->{message}, qr/^firstline 0\n.*\n\[… [\d,]+ of 1,088,898 bytes cut …\]\n.*last$/s,
    'a huge message has its ends, and says how much is between them');
like($e->{traceback}, qr/^-+\nValueError .*\[… .*line 99999last\s*$/s,
    'so has the traceback');
my $all = fetched($r->{artifacts}[0]{url});
like($all, qr/f\(300\).*\nValueError: first/s, 'the link has all of that');
is($all =~ s/.*\nValueError: //sr, 'first' . join("\n", map { "line $_" } 0 .. 99_999)
    . "last\n", 'to its last line');
is(length $all, $r->{artifacts}[0]{size}, 'and is as long as it says');
is($r->{status}, 'error', 'it is an error');
cmp_ok(length $r->{markdown}, '<', 25_000, 'the markdown is short');

# in the tool's text, which knows no budget

$r = $s->request('POST', '/qwen/code_interpreter', '{"params": "\'r\' * 50000"}');
like($r->{content}, qr/^execute_result:\n\n```\n'r+\n\[\S+ 30,002 of 50,002 bytes cut \S+\]\nr+'\n```\n\n\[result-001\.txt\]\((http:\S+)\)$/s,
    'Qwen\'s text links it');
is(fetched($r->{content} =~ /\((http\S+)\)$/), "'" . 'r' x 50_000 . "'",
    'byte by byte');

$s->end;
done_testing;
