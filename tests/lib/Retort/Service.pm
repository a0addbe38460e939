package Retort::Service;

# The whole of Retort for one test: retortd with its own name, uids, socket
# and artifacts, behind an nginx of its own, on free ports, in a temporary
# directory.  end() stops it all and proves that nothing is left.
#
#   my $s = Retort::Service->new(profiles => { default => { memory => '256m' } });
#   my $r = $s->run('print(1)', timeout => 3);      # decoded answer
#   $s->end;
#
# A test of memory has lean => 1: with ASan, what the front has freed is used
# again there.  With RETORT_BACKEND=docker every profile's sandboxes are
# containers of the tests' engine.

use strict;
use warnings;

use Cwd qw(abs_path);
use Digest::SHA qw(sha256_hex);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use HTTP::Tiny;
use IO::Socket::INET;
use JSON::PP;
use POSIX qw(:sys_wait_h);
use Retort::Engine;
use Retort::Wait qw(patiently);
use Test::More ();
use Time::HiRes qw(sleep time);

our $TOP = abs_path(dirname(abs_path(__FILE__)) . '/../../..');
our $PROGRAMS = $ENV{RETORT_PROGRAMS} // "$TOP/objs";
our $LAYER = $ENV{RETORT_LAYER} // "$TOP/objs/layer";

my $JSON = JSON::PP->new->utf8->canonical->allow_nonref;
my $COUNT = 0;

my %PROFILE = (
    import => 'numpy pandas matplotlib.pyplot',
    memory => '512m 1g', disk => '64m 256m', inodes => '2048 16384',
    tmp => '32m 64m', fsize => '64m 256m', processes => '48 128',
    cpu => '1 2', files => '128 512', timeout => '20s 60s',
    output => '256k 4m', image => '4m 16m', request => '4m 16m',
    artifacts => '32 64', ttl => '60s 10m', ready => '1', sessions => '32',
);


sub new {
    my ($class, %o) = @_;
    my $dir = tempdir('retort-test-XXXXXX', TMPDIR => 1, CLEANUP => 0);
    my $name = 't' . $$ . '-' . ++$COUNT;

    chmod 0755, $dir;

    my $self = bless {
        dir => $dir, name => $name, key => unpack('H*', random(24)),
        other => unpack('H*', random(24)), port => free_port(), owner => $$,
        alerts => $o{alerts}, nginx => $o{nginx} // '',
        location => $o{location} // '', args => $o{args} // [],
        connections => $o{connections} // 512,
        keepalive => $o{keepalive},
        programs => $o{lean} && $ENV{RETORT_ASAN} ? "$PROGRAMS/lean" : $PROGRAMS,
        files => ($o{connections} // 512) + 512,
        conf => $o{conf} // {}, profiles => $o{profiles} // { default => {} },
    }, $class;

    # the range of uids of one test stays below that of the next
    $self->{slots} = $self->{conf}{slots} // 64;
    $self->{base} = 1_600_000_000 + (($$ * 7 + $COUNT) % 60_000) * 8192;
    $self->{engine} = Retort::Engine->get if docker();
    $self->{mounts} = { map { $_ => 1 } mounts() };

    $self->configure;
    $self->start unless $o{stopped};

    return $self;
}


sub docker { ($ENV{RETORT_BACKEND} // '') eq 'docker' }


sub random {
    open my $f, '<', '/dev/urandom' or die;
    read $f, my $bytes, $_[0];

    return $bytes;
}


sub free_port {
    my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')
        or die "no port: $!";

    return $s->sockport;
}


sub write_file {
    my ($path, $text, $mode) = @_;

    open my $f, '>', $path or die "$path: $!";
    print $f $text;
    close $f or die "$path: $!";
    chmod $mode, $path if defined $mode;

    return;
}


sub slurp {
    my ($path) = @_;

    open my $f, '<', $path or return '';
    local $/;

    return scalar <$f> // '';
}


sub image {
    chomp(my $path = `\Q$TOP\E/auto/image --print`);
    die "no image: run auto/image\n" if $? || !-d $path;

    return $path;
}


sub configure {
    my ($self) = @_;
    my $d = $self->{dir};
    my %c = (
        listen => "$d/run/front.sock", image => image(),
        layer => $LAYER, programs => $self->{programs},
        profiles => "$d/profiles", artifacts => "$d/artifacts",
        audit => "$d/audit",
        name => $self->{name}, slots => $self->{slots},
        uid_base => $self->{base},
        $self->{engine} ? (docker_socket => $self->{engine}->socket) : (),
        %{ $self->{conf} },
    );
    my %backend = $self->{engine}
        ? (backend => 'docker', docker_image => $self->{engine}->image) : ();

    make_path("$d/profiles", "$d/nginx");
    write_file("$d/retortd.conf", join('', map {"$_ $c{$_}\n"} sort keys %c));

    for my $p (keys %{ $self->{profiles} }) {
        my %p = (%PROFILE, %backend, %{ $self->{profiles}{$p} });

        write_file("$d/profiles/$p.conf",
            join('', map {"$_ $p{$_}\n"} sort keys %p));
    }

    write_file("$d/keys", 'demo:' . sha256_hex($self->{key}) . "\nother:"
        . sha256_hex($self->{other}) . "\n", 0600);
    write_file("$d/nginx.conf", $self->nginx_conf);

    return;
}


sub nginx_conf {
    my ($self) = @_;
    my $d = $self->{dir};
    my $location = $self->{location} =~ s{%RUN%}{$d/run}gr;
    my $front = "unix:$d/run/front.sock";
    my $upstream = '';

    # connections that are kept, as the README has them
    if ($self->{keepalive}) {
        $upstream = "upstream retort { server $front; keepalive $self->{keepalive}; }";
        $front = 'retort';
    }

    return <<"CONF";
load_module $TOP/objs/ngx_http_retort_module.so;
user www-data;
worker_processes 1;
pid $d/nginx.pid;
error_log $d/error.log info;
worker_rlimit_nofile $self->{files};
events { worker_connections $self->{connections}; }
http {
    access_log off;
    client_body_temp_path $d/nginx/body;
    proxy_temp_path $d/nginx/proxy;
    fastcgi_temp_path $d/nginx/fastcgi;
    uwsgi_temp_path $d/nginx/uwsgi;
    scgi_temp_path $d/nginx/scgi;
    client_max_body_size 64m;
    $upstream
    $self->{nginx}
    server {
        listen 127.0.0.1:$self->{port};
        location /v1/ {
            retort_api native;
            retort_pass $front;
            retort_auth_key_file $d/keys;
            retort_static_url http://127.0.0.1:$self->{port}/static;
        }
        location /health {
            retort_api health;
            retort_pass unix:$d/run/front.sock;
        }
        location /static/ { retort_artifacts $d/artifacts; }
        $location
    }
}
CONF
}


# ---- life ----

sub start {
    my ($self) = @_;

    $self->start_retortd;
    $self->start_nginx;
    $self->wait_ready;

    return $self;
}


sub start_retortd {
    my ($self) = @_;
    my $pid = fork;

    die "fork: $!" unless defined $pid;

    if ($pid == 0) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>>', "$self->{dir}/retortd.log";
        open STDERR, '>&', \*STDOUT;
        exec $self->alone, "$PROGRAMS/retortd", '--conf', "$self->{dir}/retortd.conf",
            @{ $self->{args} } or POSIX::_exit(127);
    }

    $self->{broker} = $pid;

    return $pid;
}


# cgroup v2: controllers are given on from a group without other processes
sub alone {
    my ($self) = @_;

    return () unless -e '/sys/fs/cgroup/cgroup.controllers';
    return ("$TOP/auto/lib/alone", "retort-$self->{name}-up");
}


sub start_nginx {
    my ($self) = @_;

    system('/usr/sbin/nginx', '-p', "$self->{dir}/nginx", '-e',
        "$self->{dir}/error.log", '-c', "$self->{dir}/nginx.conf") == 0
        or die "nginx does not start: " . slurp("$self->{dir}/error.log");

    return;
}


sub nginx_pid { my $n = slurp("$_[0]{dir}/nginx.pid"); $n =~ s/\s//g; $n }


# polls, in steps of 20 ms, until the code is true; a generous limit
sub until_true {
    my ($self, $code, $seconds) = @_;

    return patiently($code, $seconds // 30);
}


sub wait_ready {
    my ($self) = @_;

    # asked before there is a socket, nginx would log that as critical
    $self->until_true(sub { -S "$self->{dir}/run/front.sock" });

    $self->until_true(sub {
        die "retortd ended: " . $self->log if waitpid($self->{broker}, WNOHANG) > 0;
        return $self->get('/health/startup')->{status} == 200;
    }, 60) or die "not ready: " . $self->log;

    return;
}


sub log { slurp("$_[0]{dir}/retortd.log") }

sub error_log { slurp("$_[0]{dir}/error.log") }


sub stop_nginx {
    my ($self) = @_;
    my $pid = $self->nginx_pid or return;

    kill 'TERM', $pid;
    $self->until_true(sub { !kill 0, $pid });

    return;
}


# the broker's exit status, or undef if it had to be killed
sub stop_retortd {
    my ($self, $signal) = @_;
    my $pid = delete $self->{broker} or return;
    my $status;

    kill $signal // 'TERM', $pid;

    $self->until_true(sub {
        return 0 unless waitpid($pid, WNOHANG) == $pid;
        $status = $?;
        return 1;
    }, 30) or kill 'KILL', $pid;

    waitpid $pid, 0 unless defined $status;

    return $status;
}


# ---- requests ----

sub url { "http://127.0.0.1:$_[0]{port}$_[1]" }


sub request {
    my ($self, $method, $path, $body, %headers) = @_;
    my $http = HTTP::Tiny->new(timeout => 120, keep_alive => 0);

    $headers{authorization} //= "Bearer $self->{key}";
    $headers{'content-type'} //= 'application/json' if defined $body;
    delete $headers{authorization} if $headers{authorization} eq '';

    return $http->request($method, $self->url($path),
        { headers => \%headers, defined $body ? (content => $body) : () });
}


sub get { my ($s, $path, %h) = @_; $s->request('GET', $path, undef, %h) }


sub json {
    my ($self, $method, $path, $data) = @_;
    my $r = $self->request($method, $path,
        defined $data ? $JSON->encode($data) : undef);

    return ($r->{status}, length $r->{content}
        ? eval { $JSON->decode($r->{content}) } // { bad => $r->{content} }
        : undef);
}


# the decoded answer of one run, with the response's status as "http"
sub run {
    my ($self, $code, %o) = @_;
    my ($status, $r) = $self->json('POST', '/v1/execute',
        { code => $code, %o });

    $r->{http} = $status if ref $r eq 'HASH';

    return $r;
}


# the events of a run as they come; one that $see dislikes ends the connection
sub stream {
    my ($self, $method, $path, $data, $see) = @_;
    my ($text, @events) = ('');
    my $http = HTTP::Tiny->new(timeout => 120, keep_alive => 0);
    my $r = $http->request($method, $self->url($path), {
        headers => { authorization => "Bearer $self->{key}",
                     accept => 'application/x-ndjson',
                     defined $data ? ('content-type', 'application/json') : () },
        defined $data ? (content => $JSON->encode($data)) : (),
        data_callback => sub {
            $text .= $_[0];
            while ($text =~ s/^(.*)\n//) {
                next if $1 eq '';
                push @events, $JSON->decode($1);
                $events[-1]{at} = time;
                die "enough\n" if $see && !$see->($events[-1]);
            }
        } });

    return ($r->{status}, @events);
}


sub bash { my ($self, $code, %o) = @_; $self->run($code, %o, language => 'bash') }


sub session {
    my ($self, %o) = @_;
    my ($status, $r) = $self->json('POST', '/v1/sandboxes', \%o);

    die "no session: $status " . $JSON->encode($r) unless $status == 201;

    return $r->{sandbox_id};
}


# ---- what can be seen from outside ----

sub range { ($_[0]{base}, $_[0]{base} + 8 * $_[0]{slots} - 1) }


# ids of the service's containers
sub containers {
    my ($self) = @_;

    return $self->{engine}
        ? $self->{engine}->containers("retort.service=$self->{dir}/run/front.sock")
        : ();
}


# pids of all processes whose uid is one of this service's sandboxes
sub inside {
    my ($self) = @_;
    my ($from, $to) = $self->range;
    my %pids = map { $_ => 1 } map { $self->{engine}->processes($_) }
        $self->containers;

    for my $dir (glob '/proc/[0-9]*') {
        my ($uid) = slurp("$dir/status") =~ /^Uid:\s+(\d+)/m or next;
        $pids{$1} = 1 if $uid >= $from && $uid <= $to && $dir =~ /(\d+)$/;
    }

    my @pids = sort { $a <=> $b } keys %pids;

    return @pids;
}


sub children {
    my ($self, $of) = @_;
    my @pids;

    for my $dir (glob '/proc/[0-9]*') {
        my ($ppid) = slurp("$dir/status") =~ /^PPid:\s+(\d+)/m or next;
        push @pids, $dir =~ /(\d+)$/ if $ppid == $of;
    }

    @pids = sort { $a <=> $b } @pids;

    return @pids;
}


# a child of the broker by its program's name: "retort-front" and so on; not
# one of the sandboxes, which are its children and forks of the template; the
# first retort-docker makes the others
sub process {
    my ($self, $name) = @_;
    my ($pid) = grep { slurp("/proc/$_/cmdline") =~ /^\Q$name\E\0/
            && slurp("/proc/$_/status") =~ /^NSpid:\s+\d+$/m }
        $self->children($self->{broker});

    return $pid;
}


sub cgroups {
    my ($self) = @_;

    return grep { -d } map { glob "/sys/fs/cgroup/$_" . "retort-$self->{name}" }
        '', '*/', '*/*/', '*/*/*/';
}


sub boxes {
    my ($self) = @_;

    my @all = (map({ glob "$_/box*" } $self->cgroups),
        map { $self->{engine}->cgroups($_) } $self->containers);

    return @all;
}


# names of all sandboxes that there are, ready ones as well
sub sandboxes {
    my ($self) = @_;
    my %names = map { $_ => 1 } $self->{engine} ? $self->containers
        : map {m{([^/]+)$}} $self->boxes;
    my @names = sort keys %names;

    return @names;
}


# all of the machine, each by its id: "24 27 0:6 / /dev ... - devtmpfs ..."
sub mounts { grep { $_ ne '' } split /\n/, slurp('/proc/self/mountinfo') }


# those that came since, and lie in what is this service's alone, or are made
# of its layer, as the root of each template is; whatever others mount meanwhile
sub mounted {
    my ($self) = @_;
    my @paths = ($self->{dir}, $self->{conf}{layer} // $LAYER, "retort-$self->{name}");
    my $ours = join '|', map { quotemeta } @paths;

    return grep { !$self->{mounts}{$_} && m{[ =:,/](?:$ours)(?:[/ :,]|$)} } mounts();
}


# stops everything; each line of what must be gone is a check of its own
sub end {
    my ($self) = @_;
    my $had = $self->{broker};
    my @children = $had ? $self->children($had) : ();

    $self->stop_nginx;

    my $status = $self->stop_retortd;

    Test::More::is($status, 0, 'the service ends when it is told to')
        or Test::More::diag($self->log) if $had;
    Test::More::is_deeply([$self->inside], [], 'no process of a sandbox is left');
    Test::More::is_deeply([grep { kill 0, $_ } @children], [],
        'no process of the service is left');
    Test::More::is_deeply([$self->boxes], [], 'no cgroup of a sandbox is left');
    Test::More::is_deeply([$self->containers], [], 'no container is left')
        if $self->{engine};
    Test::More::is_deeply([glob "$self->{dir}/run/*"], [], 'no socket is left');
    Test::More::is_deeply([$self->mounted], [], 'no mount is left');
    $self->check_logs;
    $self->sweep;
    Test::More::is_deeply([$self->cgroups], [], 'the sweep takes the rest away');
    remove_tree($self->{dir});
    $self->{ended} = 1;

    return;
}


sub sweep {
    my ($self) = @_;

    rmdir for map { reverse glob "$_/service $_/retort-$self->{name} $_" }
        "/sys/fs/cgroup/retort-$self->{name}-up/retort-$self->{name}",
        "/sys/fs/cgroup/retort-$self->{name}-up";

    return system("$TOP/objs/retortd", '--conf', "$self->{dir}/retortd.conf",
        '--sweep');
}


sub check_logs {
    my ($self) = @_;
    my $text = $self->error_log . $self->log;
    my @bad = grep { !$self->{alerts} || $_ !~ $self->{alerts} }
        grep {/\[(?:alert|crit|emerg)\]|Sanitizer|runtime error:/}
        split /\n/, $text;

    Test::More::is_deeply(\@bad, [], 'no alert and no sanitizer line in a log');

    return;
}


sub DESTROY {
    my ($self) = @_;

    return if $self->{ended} || $self->{owner} != $$;
    local ($?, $@, $!);

    my $pid = $self->nginx_pid;

    kill 'TERM', $pid if $pid;

    if ($self->{broker}) {
        kill 'KILL', $self->{broker};
        waitpid $self->{broker}, 0;
    }

    sleep 0.3;
    $self->sweep;
    print STDERR "# the service's directory stays: $self->{dir}\n";

    return;
}


1;
