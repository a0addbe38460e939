package Retort::Bench::Bulk;

# Streams and files, beside what nginx does with as many bytes; and all of it
# at 1, 4 and 16 times its size.

use strict;
use warnings;

use JSON::PP;

use Retort::Bench;
use Retort::Bench::Service;

my @NDJSON = ('-H', 'Accept: application/x-ndjson',
              '-H', 'Content-Type: application/json');


# seconds of one transfer by curl, its median; each call in turn
sub transfers {
    my ($s, $rounds, @calls) = @_;
    my @times;

    for (1 .. $rounds) {
        for my $i (0 .. $#calls) {
            my ($path, @more) = @{ $calls[$i] };

            open my $out, '-|', 'curl', '-sS', '-f', '-m', '120', '-o',
                '/dev/null', '-w', '%{time_total}', '-H',
                "Authorization: Bearer $s->{key}", @more, $s->url($path) or die;
            push @{ $times[$i] }, join '', <$out>;
            close $out or die "curl $path failed\n";
        }
    }

    return map { Retort::Bench::median(@$_) } @times;
}


sub talk {
    my ($mb) = @_;

    return ['/v1/execute', @NDJSON, '-d', encode_json({
        code => "import sys\ns = ('x' * 1023 + chr(10)) * 64\n"
            . "for i in range($mb * 16): sys.stdout.write(s)" })];
}


sub stream {
    my ($b, %o) = @_;
    my $s = Retort::Bench::Service->begin(output => '64m 64m');
    my $mb = $o{quick} ? 8 : 32;
    my ($ours, $plain) = transfers($s, $o{quick} ? 2 : 9, talk($mb),
                                   ['/empty?' . ($mb << 20)]);

    $b->figure('stdout as NDJSON, MB/s', $mb / $ours);
    $b->figure('a pipe and plain FastCGI, MB/s', $mb / $plain);
    first_byte($b, $s, %o);
    events($b, $s, %o);
    $b->row(5, 'stdout as NDJSON / a pipe and plain FastCGI, MB/s',
            $mb / $ours, $mb / $plain, must => 0.4, goal => 0.8, more => 1);
    $s->done;
    return;
}


# from before print() until the client has it, by one clock
sub first_byte {
    my ($b, $s, %o) = @_;
    my $n = $o{quick} ? 20 : 200;
    my ($status, @events) = $s->stream('POST', '/v1/execute', { code =>
        "import time\nfor i in range($n):\n    time.sleep(0.01)\n"
        . "    print(repr(time.time()), flush=True)" });
    my @us = map { $_->{type} eq 'stdout' && $_->{text} =~ /([\d.]+)\n\z/
                   ? 1e6 * ($_->{at} - $1) : () } @events;

    die 'no lines' unless @us;
    $b->figure('from print(flush=True) to the client, p50 us',
               Retort::Bench::median(@us));
    return;
}


# displays are never put together
sub events {
    my ($b, $s, %o) = @_;
    my $n = 900;           # of the 1000 that a run may have
    my $box = $s->session;
    my ($t) = transfers($s, $o{quick} ? 1 : 3, ['/v1/execute', @NDJSON, '-d',
        encode_json({ sandbox_id => $box,
                      code => "for i in range($n): display(i)" })]);

    $b->figure('events/s', $n / $t);
    return;
}


sub files {
    my ($b, %o) = @_;
    my $mb = $o{quick} ? 4 : 16;
    my $s = Retort::Bench::Service->begin(image => '32m 64m',
        request => '64m 64m', fsize => '64m 256m', disk => '256m 256m');
    my $box = $s->session;
    my $path = artifact($s, $box, $mb);
    my $body = 'x' x ($mb << 20);

    Retort::Service::write_file("$s->{dir}/plain/a.bin", $body);
    Retort::Service::write_file("$s->{dir}/upload", $body);

    my @to = ('-T', "$s->{dir}/upload");
    my ($plain, $ours, $dav, $up, $down) = transfers($s, $o{quick} ? 3 : 21,
        ['/plain/a.bin'], [$path], ['/plain/b.bin', @to],
        ["/v1/sandboxes/$box/files/b.bin", @to],
        ["/v1/sandboxes/$box/files/b.bin"]);

    $b->figure('artifact download, MB/s', $mb / $ours);
    $b->figure('static file of nginx, MB/s', $mb / $plain);
    $b->figure('upload into a session, MB/s', $mb / $up);
    $b->figure('dav PUT of nginx, MB/s', $mb / $dav);
    $b->figure('download out of a session, MB/s', $mb / $down);
    $b->row(5, 'artifact download / static file of nginx', $plain, $ours,
            must => 0.95, goal => 1, more => 1);
    $b->row(5, 'upload into a session / dav PUT', $dav, $up,
            must => 0.4, goal => 0.8, more => 1);
    $s->done;
    return;
}


sub artifact {
    my ($s, $box, $mb) = @_;
    my $r = $s->run("import os
open(os.environ['OUTPUT_DIR'] + '/a$mb.bin', 'wb').write(os.urandom($mb << 20))",
        sandbox_id => $box);
    my ($path) = ($r->{artifacts}[0]{url} // '') =~ m{(/static/.*)}
        or die 'no artifact';

    return $path;
}


my @GROWS = (
    # what, its unit, a call of n of them
    ['stdout' => '2 MB', sub { talk(2 * $_[2]) }],
    ['upload' => '4 MB', sub {
        my ($s, $box, $n) = @_;
        Retort::Service::write_file("$s->{dir}/up$n", 'x' x (($n << 20) * 4));
        return ["/v1/sandboxes/$box/files/c.bin", '-T', "$s->{dir}/up$n"];
    }],
    ['artifact' => '2 MB', sub { [artifact($_[0], $_[1], 2 * $_[2])] }],
    ['statements' => '2000', sub {
        my ($s, $box, $n) = @_;
        Retort::Service::write_file("$s->{dir}/code$n", encode_json({
            sandbox_id => $box, code => "x = 1\n" x (2000 * $n) }));
        return ['/v1/execute', '-H', 'Content-Type: application/json', '-d',
                "\@$s->{dir}/code$n"];
    }],
    ['events' => '50', sub {
        return ['/v1/execute', @NDJSON, '-d', encode_json({ sandbox_id => $_[1],
            code => 'for i in range(' . 50 * $_[2] . '): display(i)' })];
    }],
);


sub growth {
    my ($b, %o) = @_;
    my $s = Retort::Bench::Service->begin(output => '64m 64m',
        request => '128m 128m', fsize => '128m 256m', disk => '256m 256m',
        image => '64m 64m');
    my $box = $s->session;

    for my $g (@GROWS) {
        my ($what, $unit, $call) = @$g;
        my @n = (1, 4, 16);
        my @t = transfers($s, $o{quick} ? 1 : 9,
                          map { $call->($s, $box, $_) } @n);

        $b->point("$what, ms for $unit", 'times as many', $n[$_],
                  1000 * $t[$_] / $n[$_]) for 0 .. $#n;
        $b->row(6, "$what: cost of $unit at 16x / at 1x", $t[2] / 16, $t[0],
                must => 1.3, goal => 1.05);
    }

    $s->done;
    return;
}


1;
