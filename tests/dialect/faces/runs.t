#!/usr/bin/perl

# What becomes of code, and what keeps it from running, in every dialect:
# contracts of six platforms, byte by byte (runs.txt).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use JSON::PP;
use Retort::Faces;
use Test::More;

my $t = Retort::Faces->new("$FindBin::Bin/runs.txt");
my $s = $t->{s};
my $json = JSON::PP->new->utf8->canonical;
my @all = Retort::Faces::names();
my @lasting = qw(native mcp mcp_2026 anthropic messages ubik e2b);


# no session of an event is in the way of the next one

sub clean {
    my $list = $json->decode($s->get('/plain/native/sandboxes')->{content});

    $s->request('DELETE', "/plain/native/sandboxes/$_->{sandbox_id}")
        for @{ $list->{sandboxes} };
}

sub event { clean(); $t->event(@_) }

sub runs {
    my ($event, $code, %o) = @_;
    event($event, sub { $t->run($_[0], $code, %o) }, @{ $o{who} // [] });
}


# what becomes of code

runs('an exception', '1/0');
runs('no output', 'x = 1');
runs('the time limit', 'while True: pass', where => 'short');
runs('the time limit, asleep', 'import time; time.sleep(60)', where => 'short');
runs('the memory limit', "x = []\nwhile True: x.append(bytearray(8000000))");
runs('an interpreter that ends', 'import os; os._exit(3)');
runs('too much output', 'print("\n".join(["y" * 20] * 99))',
     where => 'short');

my $draw = "import matplotlib.pyplot as plt\nlines = plt.plot([1, 4, 9])";

event('a figure', sub {
    $t->run($_[0], $_[0] !~ /^(?:anthropic|messages)$/ ? $draw
        : "import os\n$draw\nplt.savefig(os.environ['OUTPUT_DIR'] + '/a.png')");
});

# sandboxes that there are not

sub inside {
    my ($name, $id, %o) = @_;
    my $body = Retort::Faces::body($name, 'x = 1');

    $o{id} = $id;
    $name =~ /^mcp/ ? $body->{params}{arguments}{sandbox_id} = $id
        : $name eq 'native' ? $body->{sandbox_id} = $id
        : $name =~ /^(?:anthropic|messages)$/ ? $body->{container} = $id
        : $name eq 'ubik' ? $body->{inputs}{sandbox_id} = $id
        : $name eq 'qwen' ? $body->{session} = $id : undef;

    return $t->run($name, undef, body => $body, %o);
}

my %none = ((map { $_ => 'container_' . 'a' x 24 } qw(anthropic messages)),
            ubik => 'a' x 21,
            map { $_ => 'sbx_local_' . '0' x 32 } qw(native mcp mcp_2026 e2b));

event('a sandbox that nobody has', sub { inside($_[0], $none{$_[0]}) },
      @lasting);
event('a name that is new', sub { inside($_[0], $t->fresh) },
      qw(qwen azure azure_2024 azure_image azure_mcp));
event('an environment that nobody has launched', sub { inside($_[0], $t->fresh,
      where => 'strict') }, 'azure_mcp');

my %had;

for my $name (@lasting) {
    my $body = Retort::Faces::body($name, 'x = 1');

    $body->{keep} = $JSON::PP::true if $name eq 'native';
    $had{$name} = $name eq 'e2b' ? $t->e2b
        : ($t->run($name, undef, body => $body)->{content} =~
           /(?:"sandbox_id|"container":\{"id)":"([^"]+)"/)[0];
}

event('a sandbox that has ended', sub { inside($_[0], $had{$_[0]}) }, @lasting);

# what keeps it from running

$s->request('POST', '/full/native/sandboxes');
$t->event('no room', sub {
    return $_[0] ne 'e2b' ? $t->run($_[0], '1', where => 'full')
        : $s->request('POST', '/full/e2b/sandboxes', '{"templateID":"full"}');
});
clean();

my @who = (who => [@all, 'files']);

runs('a wrong key', '1', @who, headers => { authorization => 'Bearer wrong' });
runs('no key', '1', @who, headers => { authorization => '' });
runs('a key without the scope', '1', @who, where => 'files',
     headers => { authorization => 'Bearer execute' });
event('a profile that there is not', sub { $t->run($_[0], '1', where =>
      'none') }, (grep { $_ ne 'e2b' } @all), 'files');


$t->end;
