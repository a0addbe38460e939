package Retort::Bench;

# What the benchmarks share: load by wrk, processes by objs/bench/spawn, what
# was measured.
#
#   my $b = Retort::Bench->new(quick => 1);
#   my $r = $b->load($s, conns => 8, seconds => 3, body => {...});
#   my @us = $b->spawn(20, 'python3', '-c', 'print(4)');
#   $b->row(1, 'what', $ours, $theirs, must => 0.35, goal => 0.08);
#   $b->point('fresh sandboxes/s', clients => 8, $r->{rate});

use strict;
use warnings;

use File::Temp qw(tempfile);
use JSON::PP;

use Retort::Service;

our $TOP = $Retort::Service::TOP;
my $JSON = JSON::PP->new->canonical->pretty;


sub new {
    my ($class, %o) = @_;
    return bless { quick => $o{quick}, rows => [], figures => [],
                   series => {} }, $class;
}


sub cores { return scalar(() = Retort::Service::slurp('/proc/cpuinfo')
                          =~ /^processor/mg) }


sub median { return quantile(0.5, @_) }

sub quantile {
    my ($q, @all) = @_;
    @all = sort { $a <=> $b } @all;
    return @all ? $all[int($q * $#all + 0.5)] : undef;
}


# ---- load ----

my $LUA = <<'EOL';
local threads = {}
setup = function(thread)
    table.insert(threads, thread)
end
done = function(summary, latency, requests)
    local e, unsaid = summary.errors, 0
    for _, t in ipairs(threads) do
        unsaid = unsaid + (t:get("unsaid") or 0)
    end
    io.write(string.format("WRK %d %d %d %d %.0f %.0f %d\n", summary.requests,
        summary.duration, e.status,
        e.connect + e.read + e.write + e.timeout,
        latency:percentile(50), latency:percentile(99), unsaid))
end
EOL


# Microseconds, answers a second that were 2xx, and the share of a core that
# the client took.  With "every" each connection pauses for about so many
# milliseconds before each request, whatever it was answered: an open loop, as
# far as there are connections enough.  With "says", answers without that text
# are counted.
sub wrk {
    my ($self, $url, %o) = @_;

    my ($fh, $lua) = tempfile('bench-XXXXXX', SUFFIX => '.lua', TMPDIR => 1,
                              UNLINK => 1);
    my %h = (%{ $o{headers} // {} });

    print $fh 'wrk.method = "', $o{method} // 'POST', qq("\n);
    print $fh 'wrk.body = ', lua($o{body}), "\n" if defined $o{body};
    print $fh 'wrk.headers[', lua($_), '] = ', lua($h{$_}), "\n" for keys %h;
    print $fh in_turn(@{ $o{bodies} }) if $o{bodies};
    printf $fh "function delay() return math.random(0, %d) end\n",
        2 * $o{every} if defined $o{every};
    print $fh says($o{says}) if defined $o{says};
    print $fh $LUA;
    close $fh or die;

    my $n = $o{conns} // 1;
    my $seconds = $o{seconds} // ($self->{quick} ? 1 : 8);
    my @before = times;
    open my $out, '-|', 'wrk', '-c', $n, '-t', $n > 1 ? 2 : 1, '-d',
        "${seconds}s", '--timeout', '60s', '-s', $lua, $url or die "wrk: $!";
    my ($line) = grep { /^WRK / } <$out>;
    close $out;
    my @after = times;
    die "wrk failed at $url\n" unless $line;

    my (undef, $all, $us, $bad, $errors, $p50, $p99, $unsaid)
        = split ' ', $line;
    return { n => $all, bad => $bad, errors => $errors, p50 => $p50,
             unsaid => $unsaid,
             p99 => $p99, rate => ($all - $bad) / ($us / 1e6),
             asked => $all / ($us / 1e6), client =>
             ($after[2] + $after[3] - $before[2] - $before[3]) / $seconds };
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


sub says {
    return 'unsaid = 0; local says = ' . lua($_[0]) . "\n" . <<'EOL';
response = function(status, headers, body)
    if not body:find(says, 1, true) then unsaid = unsaid + 1 end
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

sub spawn { my ($self, @more) = @_; return $self->spawn_in([], @more) }


# the same, by a command that executes another one
sub spawn_in {
    my ($self, $in, $n, @command) = @_;

    open my $out, '-|', @$in, "$TOP/objs/bench/spawn", $n, @command
        or die "$!";
    my @us = map { $_ + 0 } <$out>;
    close $out or die "@command failed\n";
    return @us;
}


# bytes of memory of processes, each page shared by its users
sub pss {
    my ($self, @pids) = @_;
    my $kib = 0;

    for my $pid (@pids) {
        $kib += $_ for Retort::Service::slurp("/proc/$pid/smaps_rollup")
            =~ /^Pss:\s+(\d+)/mg;
    }

    return $kib * 1024;
}


# ---- what was measured ----

sub figure {
    my ($self, $name, $value) = @_;

    push @{ $self->{figures} }, [$name, $value];
    printf "    %-56s %12s\n", $name, number($value);
    return $value;
}


# a figure that depends on another one: a line in a plot
sub point {
    my ($self, $name, $of, $x, $value) = @_;

    $self->{series}{$name}{of} = $of;
    push @{ $self->{series}{$name}{points} }, [$x, $value];
    return $self->figure("$name, $x $of", $value);
}


sub number {
    my ($value) = @_;
    return $value =~ /^-?[\d.]+(?:e[-+]?\d+)?$/i ? sprintf('%.4g', $value)
                                                : $value;
}


# one line of the table: ours, theirs, and what their ratio has to be; one
# whose peer is not there has no ratio
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
    printf "%d  %-58s %8s  must %s %-8.4g goal %-8.4g %s\n", $number, $what,
        defined $ratio ? number($ratio) : '-', $more ? '>=' : '<=',
        $o{must}, $o{goal}, $how;
    return;
}


# Parts that were not measured now keep what an earlier run said of them.
sub save {
    my ($self, $path, $part, %about) = @_;
    my $all = -e $path ? $JSON->decode(Retort::Service::slurp($path)) : {};

    $all->{parts}{$part} = { %about, rows => $self->{rows},
        figures => $self->{figures}, series => $self->{series} };
    Retort::Service::write_file("$path.new", $JSON->encode($all));
    rename "$path.new", $path or die "$path: $!";
    @$self{qw(rows figures series)} = ([], [], {});
    return;
}


1;
