#!/usr/bin/perl

# Files that a request brings along, or names.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use Retort::Front qw(done_front);

plan skip_all => 'needs root' if $> != 0;

my $f = Retort::Front->start(request => 100_000, image => 100_000);
my $r;


# what a run finds, as "name=content"

sub given {
    my ($files, @more) = @_;

    return $f->execute({ code => 'out(join " ", map { "$_=$files{$_}" }'
                         . ' sort keys %files)', files => $files }, @more);
}


sub code { ($_[0]{json} // {})->{error}{code} // 'none' }


is(given([{ name => 'a', text => 'x' }, { name => 'b/c',
           content_base64 => 'eQ==' }])->{json}{stdout}, 'a=x b/c=y',
   'text and base64 are written');
is(given([{ name => 'a.csv', url => 'data:text/csv;base64,eA==' },
          { url => 'data:text/csv,1%2C2' }, { url => 'data:x/y,z' }])
   ->{json}{stdout}, 'a.csv=x file-2.csv=1,2 file-3.bin=z',
   'data URLs, too, and need no name');

for my $bad ([{ text => 'x' }], [{ name => 'x' }], [{ name => '../x',
              url => 'data:,x' }], [{ url => 'data:x' }],
             [{ url => 'ftp://example.org/x' }], [{ url => 'file:///etc' }],
             [{ name => 'x', text => 'y', url => 'data:,x' }],
             [{ file_id => 'x', url => 'data:,x' }], ['x'], [7],
             [{ text => 'x', url => 'http://h/x' }])
{
    my $text = JSON::PP->new->canonical->encode($bad);
    is(code(given($bad)), 'bad_value', "$text is refused");
}

# ---- artifacts ----

$r = $f->execute({ code => 'saved("t.csv", "a,b"); saved("n", "x" x 60_000)' });
my ($csv, $big) = map { ($_->{url} =~ m{([^/]+)$})[0] }
    @{ $r->{json}{artifacts} };

is(given([{ name => 'in.csv', file_id => $csv }])->{json}{stdout},
   'in.csv=a,b', 'an artifact is a file again');
is(given([{ file_id => $csv }])->{json}{stdout}, 'file-1.csv=a,b',
   'its name has its type');
is(code(given([{ file_id => $csv }], RETORT_WORKSPACE => 'other')),
   'file_not_found', 'but not another workspace\'s');
is(code(given([{ name => 'x', file_id => $_ }])), 'file_not_found',
   "'$_' is none") for '', 'x', '.secret', '../x', substr $csv, 0, 31;
is(code(given([map { { file_id => $big } } 1, 2])), 'too_large',
   'all of them together are bounded');

# ---- a sandbox that is made with files ----

my $make = sub { $f->get('POST', '/sandboxes', { files => $_[0] }) };
my $id = $make->([{ name => 'd/a', text => 'x' x 70_000 }, { name => 'e',
                    text => '' }, { file_id => $csv }])->{json}{sandbox_id};
is_deeply([map { "$_->{name} $_->{size}" } @{
              $f->get('GET', "/sandboxes/$id/files")->{json}{files} }],
          ['d/a 70000', 'e 0', 'file-3.csv 3'],
          'a sandbox can be made with files in it');
is($f->execute({ code => 'out(1)', sandbox_id => $id })->{json}{stdout}, '1',
   'and runs');
is(code($make->([{ name => 'ok', text => 'x' }, { name => 'full',
                   text => 'x' x 70_000 }])), 'disk_full',
   'if one cannot be written');
is(scalar @{ $f->get('GET', '/sandboxes')->{json}{sandboxes} }, 1,
   'there is no sandbox');
is(code($make->([{ name => '/x', text => 'x' }])), 'bad_value',
   'a bad name is refused here as well');

done_front($f);
