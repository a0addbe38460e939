package Retort::Nginx;

# nginx with our module, for one test: a directory, a configuration out of a
# template, start, reload, requests over raw sockets, and at the end checks
# that every test gets: nothing alarming in the error log, no sanitizer's
# report, no process left.
#
#   my $ng = Retort::Nginx->new(<<'EOC', alarm => qr/expected [crit]/);
#   %%MAIN%%
#   http { %%HTTP%% server { listen 127.0.0.1:%%PORT%%; ... } }
#   EOC
#   $ng->start;
#   my $res = $ng->post('/v1/execute', '{}', Accept => 'text/markdown');
#   is $res->{status}, 200;
#   $ng->finish;                  # stops, checks
#
# %%DIR%% is the directory, %%PORT%% and %%PORT1%% ... are free ports.
# RETORT_MODULE names another module to load, or none if it is empty;
# RETORT_NGINX another nginx; RETORT_ASAN=1 preloads libasan.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use IO::Select;
use IO::Socket::INET;
use POSIX qw(:sys_wait_h);
use Retort::Wait qw(patiently);
use Scalar::Util qw(weaken);
use Test::More;
use Time::HiRes qw(time sleep);

our $TOP = abs_path(dirname(__FILE__) . '/../../..');
our $NGINX = $ENV{RETORT_NGINX} // '/usr/sbin/nginx';
our $WAIT = 30;
our $ASAN = 'detect_leaks=0:abort_on_error=0';

my %live;


sub module {
    return $ENV{RETORT_MODULE}
        // ($ENV{RETORT_ASAN} ? "$TOP/objs/asan/ngx_http_retort_module.so"
                              : "$TOP/objs/ngx_http_retort_module.so");
}


sub new {
    my ($class, $template, %option) = @_;

    my $self = bless { dir => tempdir('retort-nginx-XXXXXX', TMPDIR => 1,
                                      CLEANUP => 1),
                       port => {}, alarm => $option{alarm} }, $class;

    chmod 0755, $self->{dir};
    mkdir "$self->{dir}/$_" for qw(logs tmp);
    $self->conf($template) if defined $template;

    return $self;
}


sub dir { shift->{dir} }
sub port { my ($self, $n) = @_; return $self->{port}{$n // ''} }


# writes the configuration; ports stay the same from one to the next

sub conf {
    my ($self, $template, $name) = @_;

    my $dir = $self->{dir};
    my $load = module() eq '' ? '' : 'load_module "' . module() . '";';
    my $user = $> == 0 ? 'user root;' : '';

    $template =~ s{%%MAIN%%}{
$load
$user
daemon off;
pid "$dir/nginx.pid";
worker_processes 1;
events { worker_connections 512; }
};

    my $temp = join "\n", map { "${_}_temp_path \"$dir/tmp/$_\";" }
        qw(client_body proxy fastcgi uwsgi scgi);

    $template =~ s{%%HTTP%%}{
$temp
log_format retort '\$request_method \$uri \$status '
    '"\$retort_workspace" "\$retort_execution" "\$retort_sandbox" '
    '"\$retort_status" "\$retort_wall" "\$retort_cpu" "\$retort_memory"';
access_log "$dir/logs/access.log" retort;
};

    $template =~ s/%%DIR%%/$dir/g;
    $template =~ s/%%PORT(\d*)%%/$self->{port}{$1} \/\/= free_port()/ge;

    return $self->write($name // 'nginx.conf', $template);
}


sub write {
    my ($self, $name, $text) = @_;

    open my $fh, '>', "$self->{dir}/$name" or die "$name: $!";
    binmode $fh;
    print $fh $text;
    close $fh;

    return "$self->{dir}/$name";
}


sub slurp {
    my ($self, $name) = @_;

    open my $fh, '<', "$self->{dir}/$name" or return '';
    binmode $fh;
    local $/;
    return <$fh> // '';
}


my %taken;

sub free_port {
    while (1) {
        my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
            or die "no free port: $!";
        my $port = $s->sockport;
        return $port unless $taken{$port}++;
    }
}


sub command {
    my ($self, @more) = @_;
    return ($NGINX, '-p', "$self->{dir}/", '-c', "$self->{dir}/nginx.conf",
            '-e', "$self->{dir}/logs/error.log", @more);
}


sub asan {
    $ENV{ASAN_OPTIONS} = $ASAN;          # of a static build, too
    return unless $ENV{RETORT_ASAN};

    chomp(my $asan = `gcc -print-file-name=libasan.so`);
    chomp(my $ubsan = `gcc -print-file-name=libubsan.so`);
    $ENV{LD_PRELOAD} = "$asan $ubsan";
    $ENV{UBSAN_OPTIONS} = 'print_stacktrace=1';
}


# nginx -t: (exit code, what it said)

sub check {
    my $self = shift;

    my $pid = open my $out, '-|';
    die "fork: $!" unless defined $pid;

    if ($pid == 0) {
        open STDERR, '>&', \*STDOUT;
        asan();
        exec $self->command('-t') or POSIX::_exit(127);
    }

    my $said = join '', <$out>;
    close $out;

    return ($? >> 8, $said);
}


# orphan => 1: a master takes a new binary only if its first parent has gone

sub start {
    my ($self, %option) = @_;

    my $pid = $option{orphan} ? $self->orphan : $self->master;

    $self->{pid} = $pid;
    $self->{owner} = $$;
    weaken($live{$pid} = $self);
    $self->wait_for(sub {
        die 'nginx did not start: ' . $self->slurp('logs/stderr.log')
            . $self->slurp('logs/error.log') . "\n"
            if waitpid($pid, WNOHANG) != 0;

        for my $port (values %{$self->{port}}) {
            next if $self->{quiet}{$port};
            IO::Socket::INET->new("127.0.0.1:$port") or return 0;
        }
        return scalar $self->workers;
    }) or die "nginx does not listen\n";

    return $self;
}


sub master {
    my $self = shift;

    my $pid = fork() // die "fork: $!";
    return $pid if $pid;

    open STDIN, '<', '/dev/null';
    open STDOUT, '>>', "$self->{dir}/logs/stdout.log";
    open STDERR, '>>', "$self->{dir}/logs/stderr.log";
    asan();
    exec $self->command or POSIX::_exit(127);
}


# we become its parent when the first one has gone: PR_SET_CHILD_SUBREAPER

sub orphan {
    my $self = shift;

    my %prctl = (x86_64 => 157, aarch64 => 167);
    syscall($prctl{(POSIX::uname())[4]}, 36, 1, 0, 0, 0) == 0
        or die "prctl: $!\n";

    pipe my $read, my $write or die "pipe: $!";
    my $first = fork() // die "fork: $!";

    if ($first == 0) {
        my $pid = $self->master;
        syswrite $write, $pid;
        $self->wait_for(sub { -s "$self->{dir}/nginx.pid" });
        POSIX::_exit(0);
    }

    close $write;
    my $pid = <$read>;
    waitpid $first, 0;
    return $pid;
}


# a port of the configuration that nobody listens on

sub not_listening { my ($self, $n) = @_; $self->{quiet}{$self->port($n)} = 1 }


sub wait_for {
    my ($self, $true, $seconds) = @_;

    return patiently($true, $seconds // $WAIT) ? 1 : 0;
}


sub workers {
    my $self = shift;

    return () unless $self->{pid};
    open my $fh, '<', "/proc/$self->{pid}/task/$self->{pid}/children"
        or return ();
    return split ' ', <$fh> // '';
}


# Stops a worker, and waits until it stands. Before, it may still be the one
# sleeper that a new connection wakes, and the others sleep on.

sub halt {
    my ($self, $pid) = @_;

    kill 'STOP', $pid;
    return $self->wait_for(sub {
        open my $fh, '<', "/proc/$pid/stat" or return 0;
        return <$fh> =~ /\) T /;
    });
}


sub reload {
    my $self = shift;

    my %old = map { $_ => 1 } $self->workers;
    kill 'HUP', $self->{pid};

    # the new workers are there, and the old ones take no more connections

    return $self->wait_for(sub {
        my @now = $self->workers;
        return 0 unless grep { !$old{$_} } @now;
        return 0 if grep { $old{$_} && title($_) !~ /shutting down/ } @now;
        return 1;
    });
}


sub title {
    my $pid = shift;
    open my $fh, '<', "/proc/$pid/cmdline" or return 'shutting down';
    local $/;
    return <$fh> // '';
}


sub log_like {
    my ($self, $re, $name) = @_;

    my $found = $self->wait_for(sub {
        $self->slurp('logs/error.log') =~ $re
    }, 10);

    ok($found, $name);
}


# the last line of the access log that matches

sub access {
    my ($self, $re) = @_;

    my $line;
    $self->wait_for(sub {
        ($line) = grep { /$re/ }
            reverse split /\n/, $self->slurp('logs/access.log');
        return defined $line;
    }, 10);

    return $line // '';
}


sub stop {
    my ($self, $signal) = @_;

    my $pid = delete $self->{pid} or return 1;
    delete $live{$pid};
    local $?;
    my @all = ($pid, $self->workers);

    {
        local $self->{pid} = $pid;
        push @all, $self->workers;
    }

    my $gone = sub {
        waitpid $pid, WNOHANG;
        return !grep { kill 0, $_ } @all;
    };

    kill $signal // 'QUIT', $pid;
    return 1 if $self->wait_for($gone, 10);

    kill 'TERM', $pid;
    return 0 if $self->wait_for($gone, 5);

    kill 'KILL', @all;
    $self->wait_for($gone, 5);
    return 0;
}


sub finish {
    my $self = shift;

    my $clean = $self->stop;
    my $log = $self->slurp('logs/error.log') . $self->slurp('logs/stderr.log');

    my @bad = grep { /\[(?:alert|crit|emerg)\]/ } split /\n/, $log;
    @bad = grep { $_ !~ $self->{alarm} } @bad if $self->{alarm};

    ok($clean, 'nginx stops and leaves no process');
    is(join("\n", @bad), '', 'nothing alarming in the error log');
    unlike($log, qr/Sanitizer|runtime error:|exited on signal/,
           'no sanitizer has anything to report');
}


# a test that dies stops its nginx, too

END { $_ && $_->{owner} == $$ && $_->stop('TERM') for values %live }


# --- HTTP, by hand

sub connect {
    my ($self, $n) = @_;

    my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                                  PeerPort => $self->port($n))
        or die "connect: $!";
    $s->autoflush(1);
    binmode $s;
    return $s;
}


sub request {
    my ($self, $method, $uri, $header, $body) = @_;

    my $s = $self->connect;
    my %h = (Host => 'localhost', Connection => 'close', %$header);

    my $text = "$method $uri HTTP/1.1\r\n"
        . join('', map { "$_: $h{$_}\r\n" } grep { defined $h{$_} } sort keys %h);
    $text .= 'Content-Length: ' . length($body) . "\r\n" if defined $body;

    local $SIG{PIPE} = 'IGNORE';
    print $s "$text\r\n" . ($body // '');

    return $self->response($s, $method);
}

sub get { my ($self, $uri, %h) = @_; return $self->request('GET', $uri, \%h) }

sub post {
    my ($self, $uri, $body, %h) = @_;
    return $self->request('POST', $uri, \%h, $body);
}


# one response from the socket; {whole} says that it came to its proper end

sub response {
    my ($self, $s, $method, $seconds) = @_;

    my $in = { sock => $s, data => '', end => time + ($seconds // $WAIT) };

    my $head = until_text($in, "\r\n\r\n") // return {
        status => 0, whole => 0, body => '', header => {}, raw => $in->{data}
    };

    my ($line, @lines) = split /\r\n/, $head;
    my %res = (header => {}, lines => \@lines, line => $line, body => '',
               head => $head);
    ($res{status}) = $line =~ m{^HTTP/1\.[01] (\d{3})};

    for (@lines) {
        my ($k, $v) = /^([^:]+):\s*(.*)$/ or next;
        $k = lc $k;
        $res{header}{$k} = exists $res{header}{$k}
            ? "$res{header}{$k}, $v" : $v;
    }

    if (($res{status} // 0) == 100) {
        my $next = $self->response($s, $method, $seconds);
        $next->{continued} = 1;
        return $next;
    }

    read_body($in, \%res, $method // 'GET');
    $res{rest} = $in->{data};

    return \%res;
}


sub read_body {
    my ($in, $res, $method) = @_;

    $res->{whole} = 1;
    return if $method eq 'HEAD' || $res->{status} =~ /^(?:204|304)$/;

    my $length = $res->{header}{'content-length'};

    if (($res->{header}{'transfer-encoding'} // '') eq 'chunked') {
        while (1) {
            my $size = until_text($in, "\r\n");
            last unless defined $size && $size =~ /^[0-9a-f]+/i;
            my $n = hex $size;
            my $chunk = bytes($in, $n + 2);
            unless (defined $chunk) {
                $res->{body} .= $in->{data};
                last;
            }
            $res->{body} .= substr $chunk, 0, $n;
            return if $n == 0;
        }
        $res->{whole} = 0;
        return;
    }

    if (defined $length) {
        my $body = bytes($in, $length);
        $res->{whole} = 0 unless defined $body;
        $res->{body} = $body // $in->{data};
        return;
    }

    1 while more($in);
    $res->{body} = $in->{data};
}


sub more {
    my $in = shift;

    my $left = $in->{end} - time;
    return 0 if $left <= 0;
    return 0 unless IO::Select->new($in->{sock})->can_read($left);
    return sysread $in->{sock}, $in->{data}, 65536, length $in->{data};
}


sub until_text {
    my ($in, $text) = @_;

    my $at;
    while (($at = index $in->{data}, $text) < 0) {
        more($in) or return undef;
    }

    my $head = substr $in->{data}, 0, $at + length $text, '';
    return substr $head, 0, $at;
}


sub bytes {
    my ($in, $n) = @_;

    while (length $in->{data} < $n) {
        more($in) or return undef;
    }

    return substr $in->{data}, 0, $n, '';
}


1;
