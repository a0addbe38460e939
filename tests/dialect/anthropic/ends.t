#!/usr/bin/perl

# When things of Anthropic's API end: a container some time after its last use,
# a file's bytes when it expires, what is known of it 30 days later.  With the
# front alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";

use POSIX qw(strftime);
use Test::More;

use Retort::Front qw(done_front wait_for);

plan skip_all => 'needs root' if $> != 0;

use constant { DAY => 86_400, TTL => 600, MIME => 128, NAME => 1024 };

my $f = Retort::Front->start(ttl => TTL * 1000);
my @api = (RETORT_API => 'anthropic', SCRIPT_NAME => '/anthropic/v1',
           HTTP_ANTHROPIC_VERSION => '1');
my $n = 0;


sub bash {
    my ($command, %more) = @_;
    return $f->get('POST', '/code_execution', { %more, content => [{
        type => 'server_tool_use', id => 'srvtoolu_' . ++$n, input => {
        command => $command }, name => 'bash_code_execution' }] }, @api)
        ->{json};
}

sub at { strftime('%Y-%m-%dT%H:%M:%S', gmtime $_[0]) }


# a container's end moves with its use

my $before = time;
my $c = bash('saved("a.txt", "made")');
my $ends = $c->{container}{expires_at};

ok(at($before + TTL) le $ends && $ends le at(time + TTL + 1),
   'a container ends the profile\'s time after its use');
ok(wait_for(sub { bash('1', container => $c->{container}{id})
                  ->{container}{expires_at} gt $ends }),
   'which moves with each use');

# a file that a run made

my $id = $c->{content}[0]{content}{content}[0]{file_id};

sub about { $f->get('GET', "/files/$id$_[0]", '', @api) }

my $made = about('')->{json};
ok(at($before + 30 * DAY) le $made->{expires_at}
   && $made->{expires_at} le at(time + 30 * DAY + 1),
   'what a run made has 30 days');
is(about('/content')->{body}, 'made', 'in which it is given');

# as if it had been written with another end, by an earlier front

sub end_at {
    my ($time) = @_;

    kill 'KILL', $f->{pid};
    $f->ended;

    for my $path (map { glob "$f->{dir}/store/$_" } '*', '*/*', '*/*/*') {
        next if !-f $path;
        open my $file, '+<', $path or die "$path: $!";
        binmode $file;
        seek $file, -(40 + MIME + NAME), 2 or next;
        read $file, my $magic, 8;
        next if $magic ne "RSHELF1\0";
        seek $file, -(MIME + NAME + 16), 2;
        print $file pack 'Q', $time;
        close $file or die "$path: $!";
    }

    $f->run;
}

end_at(time - 10);
my $r = about('/content');
is_deeply([$r->{status}, @{ $r->{json}{error} }{qw(type message)},
           $r->{json}{error}{details}{error_code}],
          [404, 'not_found_error', "File `$id` has expired.", 'file_expired'],
          'the bytes of a file end when it expires');
$r = about('');
is_deeply([$r->{status}, @{ $r->{json} }{qw(id filename size_bytes)}],
          [200, $id, 'a.txt', 4], 'what is known of it is told');
ok($r->{json}{expires_at} lt at(time), 'and that it has');

end_at(time - 31 * DAY);
ok(wait_for(sub { about('')->{status} == 404 }), 'for 30 days more');
is(about('')->{json}{error}{message}, "File `$id` not found.",
   'then it is not known');

done_front($f);
