package Retort::Messages;

# A model with a script: a server of Anthropic's Messages API whose answers
# depend on the first text that it is told, and on how often it spoke.
#
#   my $m = Retort::Messages->new(weather => sub {
#       my ($n, $said) = @_;        # its answers so far, the whole question
#       return use_('bash_code_execution', { command => 'date' }) if $n == 0;
#       return text('done');
#   });
#   $m->{url}; $m->asked;           # all questions, decoded
#
# A script gives blocks, or one [status, body].

use strict;
use warnings;

use Exporter 'import';
use IO::Socket::INET;
use JSON::PP;

our @EXPORT = qw(text use_ results);

my $JSON = JSON::PP->new->utf8->canonical;
my $count = 0;


sub text { { type => 'text', text => $_[0] } }

sub use_ {
    my ($name, $input, $id) = @_;
    return { type => 'tool_use', id => $id // 'toolu_0' . ++$count . 'Ab',
             name => $name, input => $input };
}

# what the tools said last, as text

sub results {
    my ($said) = @_;
    return join ' ', map { ref $_ && $_->{type} eq 'tool_result'
        ? $_->{content} : () } @{$said->{messages}[-1]{content}};
}


sub new {
    my ($class, %scripts) = @_;
    my $listen = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 16)
        or die "listen: $!";

    open my $say, '+>', undef or die "file: $!";
    open my $log, '<', "/proc/$$/fd/" . fileno $say or die "file: $!";
    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        $SIG{PIPE} = 'IGNORE';
        $SIG{TERM} = 'DEFAULT';
        serve($_, $say, \%scripts) while defined($_ = $listen->accept);
        require POSIX;
        POSIX::_exit(0);
    }

    return bless { pid => $pid, log => $log, owner => $$,
        url => 'http://127.0.0.1:' . $listen->sockport . '/v1/messages' },
        $class;
}


sub serve {
    my ($c, $say, $scripts) = @_;
    my ($head, $body) = ('', '');

    $head .= <$c> // return while $head !~ /\r\n\r\n$/;
    my ($length) = $head =~ /^content-length: (\d+)/mi;
    print $c "HTTP/1.1 100 Continue\r\n\r\n" if $head =~ /^expect:/mi;
    read $c, $body, $length // 0;

    my $said = $JSON->decode($body);
    my ($version) = $head =~ /^anthropic-version: (\S+)/mi;
    syswrite $say, $JSON->encode({ version => $version, said => $said }) . "\n";

    my $first = $said->{messages}[0]{content}[0]{text};
    my $n = grep { $_->{role} eq 'assistant' } @{$said->{messages}};
    my @blocks = eval { $scripts->{$first}->($n, $said) };
    @blocks = [500, $@] if $@;
    my ($status, $text) = ref $blocks[0] eq 'ARRAY' ? @{$blocks[0]}
        : (200, $JSON->encode({ id => "msg_$n", type => 'message',
            role => 'assistant', model => $said->{model},
            content => \@blocks, stop_sequence => undef,
            stop_reason => (grep { $_->{type} eq 'tool_use' } @blocks)
                ? 'tool_use' : 'end_turn',
            usage => { input_tokens => 10, output_tokens => 3 } }));

    print $c "HTTP/1.1 $status X\r\nContent-Type: application/json\r\n"
        . 'Content-Length: ' . length($text) . "\r\nConnection: close\r\n\r\n"
        . $text;
    close $c;
}


# the questions since the last time

sub asked {
    my ($self) = @_;

    my ($all, $part) = ('');

    $all .= $part while sysread $self->{log}, $part, 65536;

    return map { $JSON->decode($_) } split /\n/, $all;
}


sub DESTROY {
    my ($self) = @_;

    return if $self->{owner} != $$;
    local ($?, $!);
    kill 'TERM', $self->{pid};
    waitpid $self->{pid}, 0;
}


1;
