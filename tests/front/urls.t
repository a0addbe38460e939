#!/usr/bin/perl

# Files by URL: retort-fetch fetches them before the code runs, each dialect
# says in its own words what could not be fetched, and a moment later the same
# workspace, and no other, has them without asking again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;
use Time::HiRes qw(sleep time);

use Retort::Fetch qw(web answer);
use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

my %files = ('/a.csv' => 'a,b', '/b/c%20d.txt' => 'text', '/big' => 'x' x 60_000,
    '/private' => 'mine', '/empty' => '');
pipe my $asked, my $asks or die $!;
$asks->autoflush;
$asked->blocking(0);

my $web = web(sub {
    my ($sock, $head) = @_;
    my ($path) = $head =~ /^GET ([^ ?]*)/;

    syswrite $asks, "$path\n";

    if ($path eq '/stall') {
        print $sock "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
        $sock->flush;
        sleep 600;
    } elsif (exists $files{$path}) {
        answer($sock, 200, $files{$path},
            $path eq '/private' ? 'Cache-Control: no-store' : ());
    } else {
        answer($sock, 404, 'no');
    }
});


# how often servers were asked since the last time
sub asked {
    my $n = 0;

    $n++ while defined(my $line = <$asked>);
    return $n;
}


my $at = "http://127.0.0.1:$web->{port}";
my $fetch = Retort::Fetch->start({ front => 65534 },
    "fetch_allow 127.0.0.1:$web->{port}");
my $f = Retort::Front->start(request => 100_000, image => 100_000,
    fetch => $fetch);
my $show = 'out(join " ", map { "$_=$files{$_}" } sort keys %files)';


sub given {
    my ($files, %more) = @_;

    return $f->execute({ code => $show, files => $files }, %more);
}


sub error { ($_[0]{json} // {})->{error} // {} }


is(given(["$at/a.csv", { url => "$at/b/c%20d.txt?x=/y" }, { url => "$at/a.csv",
    name => 'in/other.csv' }, { name => 't', text => 'u' }])->{json}{stdout},
    'a.csv=a,b c d.txt=text in/other.csv=a,b t=u', 'files are fetched, and called by their URLs');
is(given(["$at/empty"])->{json}{stdout}, 'empty=', '... an empty one as well');
cmp_ok(asked(), '>=', 3, '... from their servers');
is(given(["$at/a.csv"])->{json}{stdout}, 'a.csv=a,b', 'a moment later it is there again');
is(asked(), 0, '... and its server was not asked');
is(given(["$at/a.csv"], RETORT_WORKSPACE => 'other')->{json}{stdout}, 'a.csv=a,b',
    'another workspace gets it as well');
is(asked(), 1, '... by asking itself');
given(["$at/private"]) for 1 .. 2;
is(asked(), 2, 'what says that it is not to be stored is not');

my $r = given(["$at/a.csv", "$at/none.csv"]);
is($r->{status}, 422, 'a file that is not there is an error of the request');
is(error($r)->{code}, 'file_not_fetched', '... with a code');
is(error($r)->{message}, 'file "none.csv": its server answered 404', '... that names file and reason');

for my $bad (['http://10.0.0.1/x', qr/not on the public internet/], ['http://127.0.0.1:1/x', qr/not on the public/],
    ['http://user@h.invalid/x', qr/user's name/], ['http://0x7f.1/x', qr/not written plainly/],
    ['https://h.invalid/x', qr/host is not known/])
{
    $r = given([{ url => $bad->[0], name => 'n' }]);
    is(error($r)->{code}, 'file_not_fetched', "$bad->[0] is not fetched");
    like(error($r)->{message}, qr/^file "n": .*$bad->[1]/, '... and the reason is told');
}

$r = given([map { "$at/big?$_" } 1 .. 2]);
is("$r->{status} " . error($r)->{code}, '413 file_not_fetched', 'together they have a limit');
$r = given([map { "$at/a.csv?$_" } 1 .. 17]);
is($r->{status}, 413, 'and a number');

$r = $f->get('POST', '/sandboxes', { files => ["$at/a.csv"] });
is($r->{status}, 201, 'a session begins with files by URL as well');
$r = $f->get('POST', '/sandboxes', { files => ["$at/none.csv"] });
is(error($r)->{code}, 'file_not_fetched', '... or not at all');

# ---- Qwen: the code runs, whatever became of its files ----

sub qwen {
    my ($body) = @_;

    return $f->client->request($f->params('POST', '/code_interpreter',
        RETORT_API => 'qwen', SCRIPT_NAME => '/qwen', CONTENT_TYPE => 'application/json'),
        JSON::PP->new->encode($body));
}


$r = qwen({ params => $show, timeout => undef, files => ["$at/none.csv", "$at/b/c%20d.txt", { url => "$at/a.csv" },
    'http://10.0.0.1/x', '/etc/passwd', "http://127.0.0.1:$web->{port}"] });
is($r->{status}, 200, 'Qwen: the code runs');
like($r->{body}, qr/^a\.csv=a,b c d\.txt=text$/m, '... with the files that could be fetched')
    or diag $r->{body};

# ---- Prisme: a result, and an error in it ----

sub prisme {
    my (@urls) = @_;

    return $f->get('POST', '', { jsonrpc => '2.0', id => 1, method => 'tools/call',
            params => { name => 'execute_python', arguments => { code => $show, files => [@urls] } } },
        RETORT_API => 'prisme', SCRIPT_NAME => '/prisme/mcp')->{json}{result}{structuredContent};
}


is(prisme("$at/a.csv", "$at/b/c%20d.txt")->{result}, 'a.csv=a,b c d.txt=text', 'Prisme: files by URL');

for my $bad ('http://10.0.0.1/x.csv', "$at/none.csv", 'file:///etc/passwd') {
    $r = prisme($bad);
    is($r->{error}{code}, 'FileDownloadError', "... $bad fails the call");
    is($r->{result}, undef, '... and nothing has run');
}

# ---- a client that leaves, a retort-fetch that does ----

asked();
my $c = $f->client;
$c->send_request($f->params('POST', '/execute', CONTENT_TYPE => 'application/json'),
    JSON::PP->new->encode({ code => $show, files => ["$at/stall"] }));
ok(wait_for(sub { $fetch->children && asked() }), 'a file that does not come is waited for');
undef $c;
ok(wait_for(sub { !$fetch->children }), '... until the client leaves');

$c = $f->client;
$c->send_request($f->params('POST', '/execute', CONTENT_TYPE => 'application/json'),
    JSON::PP->new->encode({ code => $show, files => ["$at/stall"] }));
ok(wait_for(sub { $fetch->children && asked() }), 'one that is fetched');
kill 'KILL', $fetch->children;
$r = Retort::Front::decode($c->read_answer);
is("$r->{status} " . error($r)->{code}, '502 fetch_lost', '... and whose child dies is lost, and says so');
is(given(["$at/a.csv?again"])->{json}{stdout}, 'a.csv=a,b', 'the next one is fetched');

kill 'KILL', $fetch->{pid};
waitpid delete $fetch->{pid}, 0;
$r = given(["$at/a.csv?never"]);
is("$r->{status} " . error($r)->{code}, '503 fetch_away', 'without retort-fetch it is told so');
like(error($r)->{message}, qr/^retort-fetch is away/, '... by its name');
is(prisme("$at/a.csv?never")->{error}{code}, 'CodeSandboxUnreachable', '... Prisme: not to be tried at once');
is(given([{ name => 'x', text => 'y' }])->{json}{stdout}, 'x=y', '... and all else goes on');
done_front($f);
