#!/usr/bin/perl

# URLs that want to be where they should not. In a network of the test's own,
# in which everything private would answer: a plain client gets there, and
# retort-fetch does not even connect.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Retort::Net;

use Test::More;

use Retort::Fetch qw(OK REFUSED FAILED web answer);

Retort::Net::setup();
Retort::Net::names(
    'localhost' => ['127.0.0.1'], 'good.test' => [$Retort::Net::PUBLIC], 'six.test' => [$Retort::Net::PUBLIC6],
    'metadata.google.internal' => ['169.254.169.254'], 'private.test' => ['10.0.0.1'], 'loop.test' => ['127.0.0.1'],
    'loop6.test' => ['::1'], 'ula.test' => ['fd00::1'], 'mapped.test' => ['::ffff:10.0.0.1'], 'nat64.test' => ['64:ff9b::a00:1'],
    'zero.test' => ['0.0.0.0'], 'zero6.test' => ['::'], '127.0.0.1.nip.test' => ['127.0.0.1'],
    'both.test' => ['10.0.0.1', $Retort::Net::PUBLIC], 'turns.test' => [[$Retort::Net::PUBLIC], ['10.0.0.1']],
    'file.internal' => ['10.0.0.1'], 'xn--bcher-kva.test' => [$Retort::Net::PUBLIC],
);

pipe my $asked, my $asks or die $!;
$asks->autoflush;
$asked->blocking(0);

sub server {
    my ($address, $port) = @_;

    return web(sub {
        my ($sock, $head) = @_;
        my ($path) = $head =~ m{^\S+ (\S*)};

        syswrite $asks, $sock->sockhost . "\n";
        $path =~ m{^/to/(.*)} ? answer($sock, 302, '', "Location: $1") : answer($sock, 200, 'reached ' . $sock->sockhost);
    }, address => $address, port => $port);
}


# where servers were asked since the last time
sub asked { my @all; while (defined(my $line = <$asked>)) { chomp $line; push @all, $line } return @all }


my @webs = map { my $port = $_; map { server($_, $port) } '0.0.0.0', '::' } 80, 8080;
my $f = Retort::Fetch->start();
my $here = $Retort::Net::PUBLIC;


# ---- positive controls: what is public is fetched, by name and by address ----

for my $good ("http://$here/", 'http://good.test/', "http://[$Retort::Net::PUBLIC6]/x", 'http://six.test/a?b=c#d', 'HTTP://GOOD.test:80/',
    'http://good.test/to/http://good.test/', 'http://xn--bcher-kva.test/ü x', 'http://good.test/to//x')
{
    my $r = $f->get($good);
    is($r->{code}, OK, "$good is fetched") or diag $r->{text};
    like($r->{data} // '', qr/^reached /, '... and is what is there');
}

is(scalar(grep { $_ ne $here && $_ ne $Retort::Net::PUBLIC6 } asked()), 0, 'they are the public ones');

# ---- the corpus: "+" is what a plain client gets through with ----

open my $list, '<', "$FindBin::Bin/urls.txt" or die $!;
my @urls = map { /^([-+~]) (.*)$/ ? [$1, $2] : () } <$list>;

# bytes that no line of it can have
push @urls, map { ['-', $_] } "http://good.test/\r\nX: y", "http://good.test/\tx", "http://127.0.0.1\x{ff}/",
    'http://good.test/' . 'x' x 5000, '', 'http://good.test/x ' . "\x7f";

cmp_ok(scalar @urls, '>=', 80, 'there are many of them');

my %public = map { $_ => 1 } $here, $Retort::Net::PUBLIC6, "::ffff:$here";
my ($through, $held) = (0, 0);

for my $row (@urls) {
    my ($plain, $url) = @$row;
    (my $shown = substr $url, 0, 60) =~ s/([^ -~])/sprintf '\\x%02x', ord $1/ge;

    if ($plain eq '+') {
        my $said = do {
            open my $curl, '-|', 'curl', '-gsL', '--max-time', 20, '--noproxy', '*', $url or die $!;
            local $/;
            <$curl>;
        };
        my @places = asked();
        my $private = (grep { !$public{$_} } @places) || $said =~ /^root:/ || $url =~ /8080|password/ && @places;

        $through++ if ok($private, "a plain client gets through with $shown");
    }

    my $r = $f->get($url);
    my @places = grep { !$public{$_} } asked();

    is_deeply([@places], [], "$shown is held: nobody was asked") or next;
    is($r->{code}, $plain eq '~' ? FAILED : REFUSED, '... refused') or diag explain $r;
    ok(length $r->{text}, '... with a reason');
    $held++;
}

is($held, scalar @urls, 'all are held');
cmp_ok($through, '>=', 80, 'most of them would get through');

# ---- names that change, and names with more than one address ----

is($f->get('http://turns.test/')->{code}, OK, 'a name is public once');
is($f->get('http://turns.test/')->{code}, REFUSED, '... and private the next time: what counts is what is connected');
is_deeply([grep { !$public{$_} } asked()], [], '... and nobody there was asked');
$f->get('http://both.test/') for 1 .. 3;
is_deeply([grep { !$public{$_} } asked()], [], 'of two addresses only the public one is ever asked');

# ---- what the operator lists ----

$f = Retort::Fetch->start({ env => { http_proxy => 'http://10.0.0.1/', HTTP_PROXY => 'http://10.0.0.1/', ALL_PROXY => 'http://10.0.0.1/' } },
    'fetch_allow 10.0.0.0/8:8080 [fd00::1]:8080 [fd00:ec2::]/32 192.168.1.1 file.internal');

for my $row ([OK, 'http://10.0.0.1:8080/'], [REFUSED, 'http://10.0.0.1/'], [OK, 'http://[fd00::1]:8080/'], [REFUSED, 'http://[fd00::1]/'],
    [OK, 'http://[fd00:ec2::254]/'], [OK, 'http://192.168.1.1/'], [REFUSED, 'http://192.168.1.1:8080/'], [OK, 'http://file.internal/'],
    [REFUSED, 'http://file.internal:81/x'], [REFUSED, 'http://private.test/'], [OK, 'http://private.test:8080/'], [REFUSED, 'http://good.test:8080/'],
    [OK, 'http://good.test/to/http://10.0.0.1:8080/'], [REFUSED, 'http://0xa000001:8080/'], [REFUSED, 'http://127.0.0.1/'])
{
    is($f->get($row->[1])->{code}, $row->[0], "listed: $row->[1] is " . ($row->[0] == OK ? 'fetched' : 'not'));
}

$f = Retort::Fetch->start('fetch_hosts good.test *.internal', 'fetch_ports 8080');

for my $row ([OK, 'http://good.test:8080/'], [REFUSED, 'http://good.test/'], [REFUSED, 'http://six.test:8080/'], [REFUSED, "http://$here:8080/"],
    [REFUSED, 'http://file.internal:8080/'], [REFUSED, 'http://notgood.test:8080/'], [REFUSED, 'http://good.test:8080/to/http://six.test:8080/'])
{
    is($f->get($row->[1])->{code}, $row->[0], "by name: $row->[1] is " . ($row->[0] == OK ? 'fetched' : 'not'));
}

is(Retort::Fetch->start('fetch off')->get('http://good.test/')->{text}, 'nothing is fetched here', 'it can be switched off');
done_testing;
