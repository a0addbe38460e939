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
#   my $s = $m->service('/short/v1/' => 'retort_limit_turn 2s;');
#
# The script '' is that of what no other is for.
#
# A script gives blocks, or one [status, body], or one [sub { ... }], which is
# called with a connection to write on, behind a head for events.  Blocks go out
# as events if the question wants a stream: stream(@blocks) has them, so that
# a sub can say a few of them.

use strict;
use warnings;

use Exporter 'import';
use IO::Socket::INET;
use JSON::PP;
use Retort::Service;

our @EXPORT = qw(text use_ results stream event);

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


sub event {
    my ($type, %more) = @_;
    return "event: $type\ndata: " . $JSON->encode({ type => $type, %more })
        . "\n\n";
}


# a list of events; text and inputs come in two deltas

sub stream {
    my (@blocks) = @_;
    my @all = event('message_start', message => { id => 'msg_x',
        type => 'message', role => 'assistant', model => 'streamed',
        content => [], stop_reason => undef, stop_sequence => undef,
        usage => { input_tokens => 10, output_tokens => 1 } });

    for my $i (0 .. $#blocks) {
        my %block = %{$blocks[$i]};
        my ($key, $delta, $as) = $block{type} eq 'text'
            ? ('text', 'text_delta', 'text')
            : ('input', 'input_json_delta', 'partial_json');
        my $value = $block{$key};

        $value = $JSON->encode($value) if ref $value;
        $block{$key} = ref $block{$key} ? {} : '';
        push @all, event('content_block_start', index => $i,
            content_block => \%block),
            map({ event('content_block_delta', index => $i,
                        delta => { type => $delta, $as => $_ }) }
                unpack 'a' . int(length($value) / 2) . ' a*', $value),
            event('content_block_stop', index => $i);
    }

    return (@all, event('message_delta', usage => { output_tokens => 3 },
        delta => { stop_sequence => undef, stop_reason =>
            (grep { $_->{type} eq 'tool_use' } @blocks) ? 'tool_use'
                                                        : 'end_turn' }),
        event('message_stop'));
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


# a whole service before this model; more locations, and what they have

sub service {
    my ($self, %more) = @_;
    my $s = Retort::Service->new(stopped => 1, conf => {
        endpoint => "anthropic $self->{url} timeout=60s" });
    my %at = ('/anthropic/v1/' => 'client_max_body_size 501m;', %more);

    $s->{location} = join '', map { "location $_ { retort_api anthropic; "
        . "retort_pass unix:$s->{dir}/run/front.sock; "
        . "retort_auth_key_file $s->{dir}/keys; $at{$_} }\n" } sort keys %at;
    $s->configure;
    $s->start;

    return $s;
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

    my $first = $said->{messages}[0]{content}[0];
    my $n = grep { $_->{role} eq 'assistant' } @{$said->{messages}};
    my @blocks = ref $first ne 'HASH'
        ? [400, '{"error":{"message":"a block is an object"}}']
        : eval { ($scripts->{$first->{text}} // $scripts->{''})
                 ->($n, $said) };
    @blocks = [500, $@] if $@;
    if ($said->{stream} && ref $blocks[0] ne 'ARRAY') {
        my @all = stream(@blocks);
        @blocks = [sub { print {$_[0]} @all }];
    }

    if (ref $blocks[0] eq 'ARRAY' && ref $blocks[0][0] eq 'CODE') {
        $c->autoflush(1);
        print $c "HTTP/1.1 200 X\r\nContent-Type: text/event-stream; "
            . "charset=utf-8\r\nConnection: close\r\n\r\n";
        $blocks[0][0]->($c);
        return close $c;
    }

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
