package Retort::Bench;

# What the benchmarks share: load by wrk, processes by objs/bench/spawn, the
# table of what was measured.
#
#   my $b = Retort::Bench->new(quick => 1);
#   my $r = $b->load($s, conns => 8, seconds => 3, body => {...});
#   my $t = $b->spawn(20, 'python3', '-c', 'print(4)');
#   $b->row(1, 'what', $ours, 'a peer', $theirs, must => 0.35, goal => 0.08);

use strict;
use warnings;

use File::Temp qw(tempfile);
use JSON::PP;

use Retort::Service;

our $TOP = $Retort::Service::TOP;
my $JSON = JSON::PP->new->canonical->pretty;


sub new {
    my ($class, %o) = @_;
    return bless { quick => $o{quick}, rows => [], figures => {} }, $class;
}


sub median { return quantile(0.5, @_) }

sub quantile {
    my ($q, @all) = @_;
    @all = sort { $a <=> $b } @all;
    return @all ? $all[int($q * $#all + 0.5)] : undef;
}


# ---- load ----

my $LUA = <<'EOL';
done = function(summary, latency, requests)
    local e = summary.errors
    io.write(string.format("WRK %d %d %d %d %.0f %.0f\n", summary.requests,
        summary.duration, e.status,
        e.connect + e.read + e.write + e.timeout,
        latency:percentile(50), latency:percentile(99)))
end
EOL


# microseconds, and answers a second that were 2xx
sub wrk {
    my ($self, $url, %o) = @_;

    my ($fh, $lua) = tempfile('bench-XXXXXX', SUFFIX => '.lua', TMPDIR => 1,
                              UNLINK => 1);
    my %h = (%{ $o{headers} // {} });

    print $fh 'wrk.method = "', $o{method} // 'POST', qq("\n);
    print $fh 'wrk.body = ', lua($o{body}), "\n" if defined $o{body};
    print $fh 'wrk.headers[', lua($_), '] = ', lua($h{$_}), "\n" for keys %h;
    print $fh in_turn(@{ $o{bodies} }) if $o{bodies};
    print $fh $LUA;
    close $fh or die;

    my $n = $o{conns} // 1;
    my $seconds = $o{seconds} // ($self->{quick} ? 2 : 8);
    open my $out, '-|', 'wrk', '-c', $n, '-t', $n > 1 ? 2 : 1, '-d',
        "${seconds}s", '--timeout', '60s', '-s', $lua, $url or die "wrk: $!";
    my ($line) = grep { /^WRK / } <$out>;
    close $out;
    die "wrk failed at $url\n" unless $line;

    my (undef, $all, $us, $bad, $errors, $p50, $p99) = split ' ', $line;
    return { n => $all, bad => $bad, errors => $errors, p50 => $p50,
             p99 => $p99, rate => ($all - $bad) / ($us / 1e6) };
}


# requests with one body after the other
sub in_turn {
    return 'local b = {' . join(', ', map { lua($_) } @_) . "}\n" . <<'EOL';
local i = math.random(#b)
request = function()
    i = i % #b + 1
    return wrk.format(nil, nil, nil, b[i])
end
EOL
}


sub lua {
    my $text = shift;
    $text =~ s/([^ -!#-\[\]-~])/sprintf '\\%03d', ord $1/ge;
    return qq("$text");
}


# runs through the service
sub load {
    my ($self, $s, %o) = @_;

    return $self->wrk($s->url($o{path} // '/v1/execute'), %o,
        $o{bodies} ? (bodies => [map { encode_json($_) } @{ $o{bodies} }])
                   : (body => encode_json($o{body})),
        headers => { 'Authorization' => 'Bearer ' . ($o{key} // $s->{key}),
                     'Content-Type' => 'application/json' });
}


# load that goes on beside another one; end() gives what it measured
sub beside {
    my ($self, $s, %o) = @_;

    pipe my $in, my $out or die;
    my $pid = fork // die;

    if ($pid == 0) {
        close $in;
        my $r = eval { $self->load($s, %o) };
        print $out encode_json($r // {});
        close $out;
        POSIX::_exit(0);
    }

    close $out;
    return { pid => $pid, in => $in };
}


sub finish {
    my ($self, $beside) = @_;
    my $r = decode_json(join '', readline $beside->{in});
    waitpid $beside->{pid}, 0;
    return $r;
}


# ---- processes ----

sub spawn {
    my ($self, $n, @command) = @_;

    open my $out, '-|', "$TOP/objs/bench/spawn", $n, @command or die "$!";
    my @us = map { $_ + 0 } <$out>;
    close $out or die "@command failed\n";
    return @us;
}


# bytes of private memory of a process
sub private {
    my ($self, @pids) = @_;
    my $kib = 0;

    for my $pid (@pids) {
        $kib += $_ for Retort::Service::slurp("/proc/$pid/smaps_rollup")
            =~ /^Private_\w+:\s+(\d+)/mg;
    }

    return $kib * 1024;
}


# ---- what was measured ----

sub figure {
    my ($self, $name, $value) = @_;

    $self->{figures}{$name} = $value;
    printf "    %-52s %12s\n", $name, $value =~ /^[\d.]+$/
        ? sprintf('%.6g', $value) : $value;
    return $value;
}


# one line of the table: ours, theirs, and what their ratio has to be
sub row {
    my ($self, $number, $what, $ours, $theirs, %o) = @_;

    my $ratio = $theirs ? $ours / $theirs : undef;
    my $more = $o{more};
    my $how = !defined $ratio ? 'not measured'
        : ($more ? $ratio >= $o{goal} : $ratio <= $o{goal}) ? 'goal'
        : ($more ? $ratio >= $o{must} : $ratio <= $o{must}) ? 'must' : 'short';

    push @{ $self->{rows} }, { row => $number, what => $what, ours => $ours,
        theirs => $theirs, ratio => $ratio, must => $o{must},
        goal => $o{goal}, more => $more ? JSON::PP::true : JSON::PP::false,
        result => $how };
    printf "%d  %-58s %8s  must %s %-7.4g goal %-7.4g %s\n", $number, $what,
        defined $ratio ? sprintf('%.4g', $ratio) : '-', $more ? '>=' : '<=',
        $o{must}, $o{goal}, $how;
    return;
}


sub save {
    my ($self, $path, %about) = @_;

    Retort::Service::write_file($path, $JSON->encode({ %about,
        rows => $self->{rows}, figures => $self->{figures} }));
    return;
}


1;
