#!/usr/bin/perl

# What a run did to its files is in its answer, and what it saved for its
# client can be fetched, from a real sandbox through a real web server.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(sha256_hex);
use Retort::Service;
use Test::More;

my $s = Retort::Service->new;
my $box = $s->session(files => [{ name => 'given.csv', text => "a\n1\n" }]);
my $r;


sub here { $s->run($_[0], sandbox_id => $box) }


sub told { [map { "$_->{change} $_->{name}" } @{ $_[0]{files} }] }


sub fetched {
    my ($url) = @_;
    return $s->get($url =~ s{^http://[^/]+}{}r)->{content} // '';
}


# ---- a session ----

$r = here("print(open('given.csv').read())");
is($r->{stdout}, "a\n1\n\n", 'a sandbox is made with files');
is_deeply(told($r), [], 'which no run has made');

$r = here("import os; os.mkdir('d')\nopen('d/x.txt', 'w').write('hello')");
is_deeply(told($r), ['created d/x.txt'], 'a new file is told');
is($r->{files}[0]{sha256}, sha256_hex('hello'), 'with its digest');
is(fetched($r->{files}[0]{url}), 'hello', 'and a link that leads to it');
is_deeply([sort @{ told($s->bash('echo more >> d/x.txt; rm given.csv',
    sandbox_id => $box)) }], ['changed d/x.txt', 'deleted given.csv'],
    'bash\'s changes are told as well');
is_deeply(told(here('x = 1')), [], 'a run that does nothing tells nothing');

here("import os\nos._exit(1)");
is_deeply(told(here('x = 1')), [], 'a new interpreter takes what it finds');
is_deeply(told(here("open('d/x.txt', 'a').write('!')")), ['changed d/x.txt'],
    'and goes on from there');

# ---- what a run leaves for its client ----

$r = here(<<'PY');
import os
import matplotlib.pyplot as plt
fig, ax = plt.subplots(); ax.plot([1, 2]); fig.savefig('plot.png'); plt.close()
with open(os.environ['OUTPUT_DIR'] + '/r.csv', 'w') as f: f.write('a,b')
print(os.listdir(os.environ['OUTPUT_DIR']))
PY
is_deeply([map { "$_->{name} $_->{mime}" } @{ $r->{artifacts} }],
    ['r.csv text/csv', 'plot.png image/png'],
    'a saved picture and what is in OUTPUT_DIR are artifacts')
    or diag(explain $r);
is(fetched($r->{artifacts}[0]{url}), 'a,b', 'the web server has the one');
is(sha256_hex(fetched($r->{artifacts}[1]{url})), $r->{artifacts}[1]{sha256},
    'and the other');
like($r->{markdown}, qr/\[r\.csv\]\(.*!\[plot\.png\]\(/s,
    'both are in the markdown');
is_deeply(told($r), ['created plot.png'], 'only the workspace\'s is told');
is(here("print(os.listdir(os.environ['OUTPUT_DIR']))")->{stdout}, "[]\n",
    'the next run finds the folder empty');

my ($id) = $r->{artifacts}[0]{url} =~ m{([^/?]+)(?:\?|$)};
is($s->run("print(open('in.csv').read())",
    files => [{ name => 'in.csv', file_id => $id }])->{stdout}, "a,b\n",
    'an artifact can be the next run\'s input');

# ---- a run whose sandbox goes ----

$r = $s->run("open('t.xyz', 'w').write('only here')\nopen('.x', 'w')",
    files => [{ name => 'in.txt', text => 'x' }]);
is_deeply([map { $_->{name} } @{ $r->{artifacts} }], ['t.xyz'],
    'all new files of a sandbox that goes are artifacts');
is(fetched($r->{artifacts}[0]{url}), 'only here', 'and can be fetched');
is_deeply(told($r), ['created .x', 'created t.xyz'], 'all are told');

# ---- code that ends at a limit ----

$r = $s->run("open('before', 'w')\nimport time; time.sleep(60)",
    sandbox_id => $box, timeout => 1);
is_deeply(told($r), ['created before'],
    'a timeout does not hide what was written before it')
    or diag(explain $r);

$s->end;
done_testing;
