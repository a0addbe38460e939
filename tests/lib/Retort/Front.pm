package Retort::Front;

# A retort-front under test: profile, store, fake broker, socket, the process.
#
#   my $f = Retort::Front->start(ready => 2, timeout => 5000);
#   my $r = $f->execute({ code => 'out("4\n")' });     # $r->{json}{stdout}
#   done_front($f);                                    # the checks of the end

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use Fcntl;
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Temp ();
use IO::Socket::UNIX;
use JSON::PP;
use POSIX ();
use Test::More;

use Retort::FakeBroker;
use Retort::FastCGI;
use Retort::Wait qw(patiently);

our @EXPORT_OK = qw(done_front wait_for);

use constant { SYS_memfd_create => 319, F_ADD_SEALS => 1033, NOBODY => 65534 };

my $top = abs_path(dirname(__FILE__) . '/../../..');


sub limits {
    my ($n) = @_;

    return pack 'QQQQQLLLL', 256e6 * $n, 64e6 * $n, 10000 * $n, 16e6 * $n,
                32e6 * $n, 64 * $n, 1000 * $n, 256 * $n, 0;
}


sub settings {
    my (%o) = @_;

    my @run = ($o{timeout} // 20000, $o{output} // 65536, $o{image} // 100000,
               $o{request} // 1_000_000, $o{artifacts} // 10,
               $o{ttl} // 60000);
    my @max = ($o{timeout_max} // 30000, $o{output_max} // 1_000_000,
               @run[2 .. 4], $o{ttl_max} // 600_000);

    my $profile = pack('a32', 'default') . limits(1) . limits(2)
                  . pack('Q6', @run) . pack('Q6', @max)
                  . pack('LLQLLLLLLa256a256', $o{ready} // 0, $o{sessions} // 64,
                         $o{alive} // 0, $o{life} // 0,
                         length($o{manifest} // ''), $o{snapshot} // 0,
                         $o{fence} // 0, $o{backend} // 0, 0, $o{m6_static_url} // '',
                         $o{m6_work_dir} // '');

    $profile .= "\0" x (-length($profile) % 8);

    my $all = pack('a16LLLLQQLL', 'n1', $o{nslots} // 64, 1, 100000, 0,
                   $o{keep} // 3_600_000, $o{quota} // 1e9,
                   $o{audit_code} // 0, $o{audit_full} // 0)
              . $profile . "\0" x (15 * length $profile);

    return pack('LL', 0x52545631, 8 + length $all) . $all
        . ($o{manifest} // '');
}


sub memfd {
    my ($bytes) = @_;

    my $fd = syscall SYS_memfd_create, my $name = "settings", 2;
    open my $fh, '+<&=', $fd or die "memfd: $!";
    binmode $fh;
    syswrite $fh, $bytes;
    fcntl $fh, F_ADD_SEALS, 15 or die "seals: $!";

    return $fh;
}


sub new {
    my ($class, %o) = @_;

    my $dir = File::Temp->newdir('retort-front-XXXXXX', TMPDIR => 1);
    chmod 0755, $dir;
    mkdir "$dir/store";
    chown NOBODY, NOBODY, "$dir/store";

    my $self = bless { dir => $dir, o => \%o, path => "$dir/front.sock",
                       owner => $$ }, $class;

    # nobody may not look into every checkout
    copy(program(), "$dir/retort-front") or die program() . ": $!";
    chmod 0755, "$dir/retort-front";

    if (defined $o{control}) {
        $self->{control} = IO::Socket::UNIX->new(
            Local => "$dir/control.sock", Listen => 16) or die "$!";
        chmod 0666, "$dir/control.sock";
    }

    $self->{broker} = Retort::FakeBroker->new("$dir/broker.sock",
                                              limits(1));
    $self->{listen} = IO::Socket::UNIX->new(Local => $self->{path},
                                            Listen => 512) or die "$!";

    return $self;
}


sub program { $ENV{RETORT_FRONT} // "$top/objs/retort-front" }


# descriptor => handle, as the program expects them

sub exec_as {
    my ($self, $uid, $fds, @args) = @_;

    my $pid = fork // die "fork: $!";
    return $pid if $pid;

    my %copy = map { $_ => fcntl($fds->{$_}, F_DUPFD, 20) } keys %$fds;

    open STDIN, '<', '/dev/null';
    open STDOUT, '>', '/dev/null';
    open STDERR, '>>', "$self->{dir}/log";
    POSIX::dup2($copy{$_}, $_) for keys %copy;
    POSIX::close($_) for 20 .. 60;

    POSIX::setgid($uid) if $uid;
    $) = "$uid $uid" if $uid;
    POSIX::setuid($uid) if $uid;

    exec "$self->{dir}/retort-front", @args or POSIX::_exit(127);
}


sub run {
    my ($self, %o) = @_;

    opendir my $store, "$self->{dir}/store" or die "$!";
    open my $dir, '<', "$self->{dir}/store" or die "$!";
    open my $log, '<', $self->{o}{audit} // '/dev/null' or die "$!";

    $self->{pid} = $self->exec_as($o{uid} // NOBODY, {
        3 => $o{broker} // $self->{broker}->connect(),
        4 => $self->{listen},
        5 => $o{settings} // memfd(settings(%{$self->{o}})),
        6 => $dir,
        $self->{control} ? (7 => $self->{control}) : (),
        8 => $log,
        $self->{o}{fetch} ? (9 => $self->{o}{fetch}{channel}) : (),
    }, '--allow-uid', 0, '--threads', $self->{o}{threads} // 8,
       $self->{control} ? ('--control-gid', $self->{o}{control}) : (),
       $self->{o}{fetch} ? ('--fetch', 9) : (),
       @{$o{args} // []});

    return $self;
}


sub start {
    my ($class, %o) = @_;

    return $class->new(%o)->run();
}


sub log {
    my ($self) = @_;

    open my $fh, '<', "$self->{dir}/log" or return '';
    local $/;
    return scalar <$fh> // '';
}


# the exit code, or nothing if it does not end in time

sub ended {
    my ($self, $patience) = @_;

    my $ok = wait_for(sub {
        waitpid($self->{pid}, POSIX::WNOHANG()) == $self->{pid}
    }, $patience // 15);

    return unless $ok;
    delete $self->{pid};
    return $?;
}


sub params {
    my ($self, $method, $path, %more) = @_;

    return { RETORT_API => 'native', RETORT_WORKSPACE => 'demo',
             RETORT_STATIC_URL => 'http://h/static', REQUEST_METHOD => $method,
             SCRIPT_NAME => '/v1', PATH_INFO => $path, %more };
}


# the socket is the test's: without this a dead front would be waited for

sub client {
    my ($self) = @_;

    if ($self->{pid} && waitpid($self->{pid}, POSIX::WNOHANG()) > 0) {
        delete $self->{pid};
        die 'the front is gone: ' . $self->log;
    }

    return Retort::FastCGI->new($self->{path});
}


sub decode {
    my ($r) = @_;

    $r->{json} = eval { JSON::PP->new->utf8->decode($r->{body}) };
    return $r;
}


sub get {
    my ($self, $method, $path, $body, %more) = @_;

    my $type = defined $body && $body ne ''
               ? { CONTENT_TYPE => 'application/json' } : {};
    my $text = ref $body ? JSON::PP->new->utf8->encode($body) : $body;

    return decode($self->client->request(
        $self->params($method, $path, %$type, %more), $text));
}


sub execute {
    my ($self, $body, %more) = @_;

    return $self->get('POST', '/execute', $body, %more);
}


# the apis for who runs the service; control by its own socket

sub ops {
    my ($self, $api, %more) = @_;

    return decode($self->client->request(
        { RETORT_API => $api, REQUEST_METHOD => 'GET',
          SCRIPT_NAME => "/$api", %more }, ''));
}


sub control {
    my ($self, $method, $path, %more) = @_;

    return decode(Retort::FastCGI->new("$self->{dir}/control.sock")->request(
        { RETORT_API => 'control', REQUEST_METHOD => $method,
          PATH_INFO => $path, %more }, delete $more{body} // ''));
}


sub stop {
    my ($self) = @_;

    return unless $$ == $self->{owner};

    if ($self->{pid}) {
        kill 'TERM', $self->{pid};
        defined $self->ended() or do {
            kill 'KILL', $self->{pid};
            waitpid delete $self->{pid}, 0;
        };
    }

    $self->{broker}->stop() if $self->{broker};
}


sub DESTROY { local $?; $_[0]->stop() }


sub wait_for {
    my ($what, $patience) = @_;

    return patiently($what, $patience // 15) ? 1 : 0;
}


# every test ends with these

sub done_front {
    my ($f) = @_;

    my %count = $f->{broker}->counts();

    $f->stop();
    is($count{bad} // 0, 0, 'the broker got no malformed message');
    unlike($f->log, qr/Sanitizer|runtime error/, 'no sanitizer report');
    done_testing();
}


1;
