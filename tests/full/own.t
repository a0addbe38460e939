#!/usr/bin/perl

# An operator's own image: one command and a list of Debian packages make it,
# and a profile that names it runs.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Path qw(remove_tree);
use File::Temp ();
use Retort::Service;
use Test::More;

plan skip_all => 'needs root' if $> != 0;

my $top = $Retort::Service::TOP;
my $cache = "/var/cache/retort/test-$$";
my $list = File::Temp->new;

END { remove_tree($cache) if $list }
mkdir $_ for '/var/cache/retort', $cache;
print $list "# tables as text, and a program\npython3-tabulate\ntree\n";
close $list;

my $said = do {
    local $ENV{RETORT_IMAGE_CACHE} = $cache;
    qx(\Q$top\E/auto/image --profile mine --packages $list 2>$cache/log);
};
is($?, 0, 'one command builds it') or diag(Retort::Service::slurp("$cache/log"));
chomp(my $root = $said);
ok(-d "$root/usr/lib", 'and tells its path');

my $manifest = Retort::Service::slurp("$root/../manifest");
like($manifest, qr/^profile mine$/m, 'it is called as its profile');
like($manifest, qr/^package python3-tabulate /m, 'and has the packages of the list');
unlike($manifest, qr/^package python3-numpy /m, 'not those of another');

my $s = Retort::Service->new(profiles => { default => { rootfs => $root, import => 'tabulate' } });

is($s->run("import tabulate\nprint(tabulate.tabulate([[1, 2]], tablefmt='plain'))\n6 * 7")
    ->{markdown}, "stdout:\n\n```\n1  2\n\n```\n\nexecute_result:\n\n```\n42\n```", 'Python runs in it');
is($s->run('import numpy')->{error}{message}, "No module named 'numpy'",
    'without what is not in it');
is($s->bash('mkdir -p a/b; tree -i --noreport a | tail -1')->{stdout}, "b\n", 'so does bash');
is($s->run('import os; print(os.cpu_count())', limits => { cpu => 1 })->{stdout}, "1\n",
    'and it believes the quota');
my $box = $s->session;
$s->run('x = 1', sandbox_id => $box);
is($s->run('x', sandbox_id => $box)->{result}, '1', 'sessions keep their state');

$s->end;
remove_tree($cache);
ok(!-e $cache, 'nothing is left');
done_testing;
