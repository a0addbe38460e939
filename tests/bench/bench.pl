#!/usr/bin/perl

# The benchmarks; called by auto/bench, which installs the peers.
#
#   bench.pl [--quick] [--out FILE] [PART]...

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Path qw(make_path);
use JSON::PP;
use POSIX ();
use Test::More ();
use Time::HiRes qw(sleep time);

use Retort::Bench;
use Retort::Service;

my (%o, @parts);

while (@ARGV) {
    my $arg = shift;
    if ($arg eq '--quick') { $o{quick} = 1 }
    elsif ($arg eq '--out') { $o{out} = shift }
    else { push @parts, $arg }
}

Test::More->builder->output('/dev/null');

my $b = Retort::Bench->new(quick => $o{quick});
my $image = Retort::Service::image();
my $imports = "import numpy, pandas, matplotlib.pyplot\n";
my $plot = 'import pandas as pd, matplotlib.pyplot as plt
df = pd.DataFrame({"x": range(50), "y": [i * i for i in range(50)]})
df.plot(x="x", y="y")
';

my @all = (
    [fresh => \&fresh], [warm => \&warm], [throughput => \&throughput],
    [overload => \&overload], [density => \&density], [stream => \&stream],
    [files => \&files], [growth => \&growth],
);
my %known = map { @$_ } @all;

@parts = map { $_->[0] } @all unless @parts;

for my $part (@parts) {
    my $run = $known{$part} or die "no part \"$part\": @{[sort keys %known]}\n";
    print "\n== $part\n";
    $run->();
}

$b->save($o{out}, when => POSIX::strftime('%F', gmtime), cores => cores(),
         quick => $o{quick} ? JSON::PP::true : JSON::PP::false) if $o{out};


Test::More::done_testing();


sub cores { return scalar(() = Retort::Service::slurp('/proc/cpuinfo')
                          =~ /^processor/mg) }


# ---- the service, and what stands beside it ----

my %empty;

sub service {
    my (%profile) = @_;

    my $slots = ($profile{sessions} // 64) + 32;
    my $s = Retort::Service->new(
        stopped => 1, connections => 2048, keepalive => 16,
        profiles => { default => { ready => 8, sessions => 64, %profile } },
        conf => { slots => $slots < 64 ? 64 : $slots },
        nginx => 'retort_zone bench 64k running=8 waiting=64;
            upstream empty { server unix:%DIR%/empty.sock; keepalive 8; }',
        location => '
            location /limited/ {
                retort_api native;
                retort_pass retort;
                retort_auth_key_file %DIR%/keys;
                retort_limits zone=bench running=4 waiting=16 wait=1s;
            }
            location /empty {
                include /etc/nginx/fastcgi_params;
                fastcgi_pass empty; fastcgi_keep_conn on;
                fastcgi_buffering off;
            }
            location /plain/ {
                alias %DIR%/plain/; dav_methods PUT;
            }');

    my $conf = Retort::Service::slurp("$s->{dir}/nginx.conf");
    $conf =~ s/%DIR%/$s->{dir}/g;
    Retort::Service::write_file("$s->{dir}/nginx.conf", $conf);
    make_path("$s->{dir}/plain");
    chmod 0777, "$s->{dir}/plain";

    $empty{$s} = fork // die;

    if (!$empty{$s}) {
        exec "$Retort::Bench::TOP/objs/bench/empty", "$s->{dir}/empty.sock"
            or POSIX::_exit(127);
    }

    return $s->start;
}


# one that leaves something behind is no measure
sub done {
    my ($s) = @_;

    kill 'TERM', $empty{$s};
    waitpid delete $empty{$s}, 0;
    $s->end;
    Test::More->builder->is_passing or die "the service left something\n";
    return;
}


sub same { my ($name, @us) = @_; $b->figure("$name p50 us",
                                            Retort::Bench::median(@us)) }


# ---- parts ----

sub fresh {
    my $n = $o{quick} ? 8 : 30;
    my $s = service();
    my $ours = $b->load($s, body => { code => $imports . 'print(2+2)' });
    my $drawn = $b->load($s, body => { code => $plot });

    die 'runs failed' if $ours->{bad} || $drawn->{bad};
    my $p50 = $b->figure('fresh sandbox p50 us', $ours->{p50});
    $b->figure('fresh sandbox p99 us', $ours->{p99});
    $b->figure('fresh pandas + plot p50 us', $drawn->{p50});

    my $bare = same('python3 -c print(4)',
        $b->spawn($n, 'python3', '-c', 'print(4)'));
    my @bwrap = qw(bwrap --unshare-all --ro-bind);
    push @bwrap, $image, qw(/ --proc /proc --dev /dev --tmpfs /tmp --clearenv
        --setenv PATH /usr/bin:/bin --setenv HOME /tmp python3 -c);
    same('bubblewrap + python3 print(4)', $b->spawn($n, @bwrap, 'print(4)'));
    my $bare_plot = same('bubblewrap + python3, pandas + plot',
        $b->spawn($n / 2, @bwrap, $plot . 'plt.savefig("/tmp/a.png")'));

    my $kernel = ipykernel();
    same('ipykernel, start to first answer', @{ $kernel->{fresh} });
    my $docker = docker($n);

    $b->row(1, 'fresh sealed p50 / python3 -c', $p50, $bare,
            must => 0.35, goal => 0.08);
    $b->row(1, 'fresh sealed p99 / python3 -c p50', $ours->{p99}, $bare,
            must => 1, goal => 0.3);
    $b->row(1, 'fresh sealed p50 / docker run', $p50, $docker,
            must => 1 / 150, goal => 1 / 600);
    $b->row(1, 'pandas + plot -> PNG link / python3 doing it', $drawn->{p50},
            $bare_plot, must => 0.12, goal => 0.06);
    done($s);
    return;
}


my $kernel_said;

sub ipykernel {
    return $kernel_said //= do {
        my $n = $o{quick} ? 2 : 5;
        my $text = `python3 "$FindBin::Bin/kernel.py" $n 100 2>/dev/null`;
        die "ipykernel failed\n" if $?;
        decode_json($text);
    };
}


# only where an engine answers that holds our image
sub docker {
    my ($n) = @_;
    my @docker = qw(docker run --rm --network none retort-bench);

    return $b->figure('docker run', 'no engine') && undef
        if system('docker image inspect retort-bench >/dev/null 2>&1') != 0;
    return same('docker run python3, same imports', $b->spawn($n / 2, @docker,
        'python3', '-c', $imports . 'print(2+2)'));
}


sub warm {
    my $s = service();
    my %cell = (code => 'x=1', sandbox_id => $s->session);
    my $ours = $b->load($s, body => \%cell);
    my $bare = $b->wrk($s->url('/empty'), body => '{}');
    my $kernel = Retort::Bench::median(@{ ipykernel()->{warm} });

    die 'cells failed' if $ours->{bad};
    $b->figure('warm cell p50 us', $ours->{p50});
    $b->figure('warm cell p99 us', $ours->{p99});
    $b->figure('empty libfcgi responder p50 us', $bare->{p50});
    $b->figure('ipykernel warm cell p50 us', $kernel);
    $b->row(2, 'warm x=1 / ipykernel', $ours->{p50}, $kernel,
            must => 0.2, goal => 0.06);
    $b->row(2, 'warm x=1 / empty libfcgi responder', $ours->{p50},
            $bare->{p50}, must => 4, goal => 2);
    done($s);

    # the same without a copy that stands by
    $s = service(snapshot => 'off');
    $cell{sandbox_id} = $s->session;
    $b->figure('warm cell p50 us, snapshot off',
               $b->load($s, body => \%cell)->{p50});
    done($s);
    return;
}


sub throughput {
    my $s = service(sessions => 200);
    my @boxes = map { $s->session } 1 .. 128;

    for my $n (1, 2, 8, 32, 128) {
        my $fresh = $b->load($s, conns => $n, body => { code => 'print(2+2)' });
        my $warm = $b->load($s, conns => $n, bodies => [
            map { { code => 'x=1', sandbox_id => $_ } } @boxes[0 .. $n - 1]]);

        $b->figure("fresh sandboxes/s, $n clients", $fresh->{rate});
        $b->figure("their p99 us, $n clients", $fresh->{p99});
        $b->figure("warm cells/s, $n clients", $warm->{rate});
    }

    done($s);
    return;
}


sub overload {
    my $s = service();
    my %fresh = (path => '/limited/execute', body => { code => 'print(2+2)' });
    my $at = $b->load($s, %fresh, conns => 8);
    my $over = $b->load($s, %fresh, conns => 40);

    $b->figure('goodput/s at capacity', $at->{rate});
    $b->figure('goodput/s at five times that', $over->{rate});
    $b->figure('answers of them that were refusals', $over->{bad});
    $b->row(3, 'goodput at 5x capacity / at capacity', $over->{rate},
            $at->{rate}, must => 0.9, goal => 0.98, more => 1);

    my $alone = $b->load($s, %fresh);
    my $noise = $b->beside($s, %fresh, conns => 32, key => $s->{other},
                           seconds => $o{quick} ? 5 : 12);
    sleep 1;
    my $quiet = $b->load($s, %fresh);
    $b->finish($noise);
    $b->figure('quiet workspace p99 us, alone', $alone->{p99});
    $b->figure('quiet workspace p99 us, beside a noisy one', $quiet->{p99});
    done($s);
    return;
}


sub density {
    my $n = $o{quick} ? 100 : 1000;
    my $s = service(sessions => $n + 40, processes => '48 128', ready => 4,
                    memory => '256m 1g', ttl => '10m 10m');
    my %fresh = (body => { code => 'print(2+2)' });
    my @boxes = map { $s->session } 1 .. 10;

    $s->run('print(1)', sandbox_id => $_) for @boxes;
    my $few = $b->load($s, %fresh);
    push @boxes, map { $s->session } 11 .. $n;
    $s->run('print(1)', sandbox_id => $_) for @boxes[10 .. $#boxes];
    my $many = $b->load($s, %fresh);
    my $private = $b->private($s->inside) / @boxes;

    $b->figure('sessions alive', scalar @boxes);
    $b->figure('private bytes of an idle session', int $private);
    $b->figure('private bytes of an idle ipykernel', ipykernel()->{private});
    $b->row(4, 'private memory of an idle session / ipykernel', $private,
            ipykernel()->{private}, must => 1 / 12, goal => 1 / 25);
    $b->row(4, "fresh p50 with $n sessions alive / with 10", $many->{p50},
            $few->{p50}, must => 1.5, goal => 1.1);
    done($s);
    return;
}


# seconds of one transfer by curl: the best of some
sub curl {
    my ($s, $path, @more) = @_;
    my @times;

    for (1 .. ($o{quick} ? 3 : 7)) {
        open my $out, '-|', 'curl', '-sS', '-f', '-o', '/dev/null', '-w',
            '%{time_total}', '-H', "Authorization: Bearer $s->{key}", @more,
            $s->url($path) or die;
        push @times, join '', <$out>;
        close $out or die "curl $path failed\n";
    }

    return Retort::Bench::median(@times);
}


sub talk {
    my ($s, $mb) = @_;

    return curl($s, '/v1/execute', '-H', 'Accept: application/x-ndjson',
        '-H', 'Content-Type: application/json', '-d', encode_json({
            code => "import sys\ns = ('x' * 1023 + chr(10)) * 64\n"
                . "for i in range($mb * 16): sys.stdout.write(s)" }));
}


sub stream {
    my $s = service(output => '64m 64m');
    my $mb = 32;
    my $ours = $mb / talk($s, $mb);
    my $plain = $mb / curl($s, '/empty?' . ($mb << 20));

    $b->figure('stdout as NDJSON MB/s', $ours);
    $b->figure('the same bytes through plain FastCGI MB/s', $plain);
    $b->row(5, 'stdout as NDJSON / plain FastCGI', $ours, $plain,
            must => 0.4, goal => 0.8, more => 1);
    done($s);
    return;
}


sub files {
    my $mb = 16;
    my $s = service(image => '32m 64m', request => '64m 64m',
                    fsize => '64m 256m', disk => '256m 256m');
    my $box = $s->session;
    my $r = $s->run("import os
open(os.environ['OUTPUT_DIR'] + '/a.bin', 'wb').write(os.urandom($mb << 20))",
        sandbox_id => $box);
    my ($path) = ($r->{artifacts}[0]{url} // '') =~ m{(/static/.*)} or die;
    my $body = 'x' x ($mb << 20);

    Retort::Service::write_file("$s->{dir}/plain/a.bin", $body);
    Retort::Service::write_file("$s->{dir}/upload", $body);
    my @to = ('-T', "$s->{dir}/upload");
    my $down = curl($s, '/plain/a.bin') / curl($s, $path);
    my $up = curl($s, '/plain/b.bin', @to)
        / curl($s, "/v1/sandboxes/$box/files/b.bin", @to);

    $b->row(5, 'artifact download / static file of nginx', $down, 1,
            must => 0.95, goal => 1, more => 1);
    $b->row(5, 'upload into a session / dav PUT', $up, 1,
            must => 0.4, goal => 0.8, more => 1);
    done($s);
    return;
}


sub growth {
    my $s = service(output => '64m 64m', request => '128m 128m',
                    fsize => '128m 256m', disk => '256m 256m');
    my $box = $s->session;
    my (%talk, %up);

    for my $n (1, 4, 16) {
        $talk{$n} = talk($s, 2 * $n) / $n;
        Retort::Service::write_file("$s->{dir}/up", 'x' x (($n << 20) * 4));
        $up{$n} = curl($s, "/v1/sandboxes/$box/files/c.bin", '-T',
                       "$s->{dir}/up") / $n;
        $b->figure("stdout s/unit at ${n}x", $talk{$n});
        $b->figure("upload s/unit at ${n}x", $up{$n});
    }

    $b->row(6, 'stdout per MB at 16x / at 1x', $talk{16}, $talk{1},
            must => 1.3, goal => 1.05);
    $b->row(6, 'upload per MB at 16x / at 1x', $up{16}, $up{1},
            must => 1.3, goal => 1.05);
    done($s);
    return;
}
