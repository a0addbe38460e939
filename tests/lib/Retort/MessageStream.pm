package Retort::MessageStream;

# A client of Anthropic's Messages API that wants a stream.
#
#   my ($response, $rest, @events) = stream_ask($service, 'hello',
#       see => sub { ... });        # each event as it comes
#   my $message = stream_message(@events);

use strict;
use warnings;

use Exporter 'import';
use HTTP::Tiny;
use JSON::PP;

our @EXPORT = qw(stream_ask stream_message);


# the events of an answer; each is shown to $see as it comes

sub stream_ask {
    my ($s, $said, %o) = @_;
    my ($text, @events) = ('');
    my $see = delete $o{see};
    my $at = delete $o{at} // '/anthropic';
    my $r = HTTP::Tiny->new(timeout => 120)->request('POST',
        $s->url("$at/v1/messages"), { content => encode_json({
            model => 'm', max_tokens => 9, stream => JSON::PP::true,
            tools => [{ type => 'code_execution_20250825',
                        name => 'code_execution' }],
            messages => ref $said ? $said
                : [{ role => 'user', content => $said }], %o }),
        headers => { 'x-api-key' => $s->{key}, 'anthropic-version' => '1',
                     'content-type' => 'application/json' },
        data_callback => sub {
            $text .= $_[0];
            while ($text =~ s/^event: (\S+)\ndata: (.*)\n\n//) {
                push @events, decode_json($2);
                die "other type" if $events[-1]{type} ne $1;
                $see->($events[-1]) if $see;
            }
        } });

    return ($r, $r->{success} ? $text : $r->{content}, @events);
}

# as an SDK puts them together; "" if their order is wrong

sub stream_message {
    my ($m, $open);

    for my $e (@_) {
        my $is = $e->{type};

        if ($is eq 'message_start') {
            return '' if $m;
            $m = $e->{message};
        } elsif ($is eq 'content_block_start') {
            return '' if $open || $e->{index} != @{$m->{content}};
            push @{$m->{content}}, $open = $e->{content_block};
        } elsif ($is eq 'content_block_delta') {
            return '' if !$open || $e->{index} != $#{$m->{content}};
            $open->{said} .= $e->{delta}{text} // $e->{delta}{partial_json}
                // $e->{delta}{thinking} // '';
        } elsif ($is eq 'content_block_stop') {
            return '' if !$open || $e->{index} != $#{$m->{content}};
            undef $open;
        } elsif ($is eq 'message_delta') {
            return '' if $open;
            $m = { %$m, %{$e->{delta}}, usage => $e->{usage} };
        }
    }

    return $m && !$open ? $m : '';
}


1;
