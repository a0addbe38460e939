package Retort::Runs;

# Runs that wait for their end, through nginx with a zone, for tests of
# admission.
#
#   my $t = Retort::Runs->new($ng);       # the front; then $ng->start
#   my $s = $t->begin('who', 'name');     # POST, by default of /v1/execute
#   $t->is_status(1, 0, 'it runs');       # running, waiting of /status
#   $t->begun                             # names in the order of their begin
#   $t->end('name');  $t->end_all;
#
# A request without a name is answered at once.

use strict;
use warnings;

use JSON::PP;
use Test::More;

use Retort::FakeFront;


sub new {
    my ($class, $ng) = @_;

    my $dir = $ng->dir;
    my $front = Retort::FakeFront->new("$dir/front.sock", sub {
        my $req = shift;
        my $name = $req->{params}{QUERY_STRING};
        $req->stdin;

        if ($name) {
            open my $fh, '>>', "$dir/begun";
            syswrite $fh, "$name\n";
            $ng->wait_for(sub { -e "$dir/end-$name" || -e "$dir/end"
                                || $req->left }, 60);
        }

        $req->answer('Content-Type: text/plain', $name);
    });

    return bless { ng => $ng, front => $front }, $class;
}


# has the worker gone away?

sub Retort::FakeFront::Request::left {
    my $req = shift;
    return 0 unless IO::Select->new($req->{sock})->can_read(0);
    return !sysread $req->{sock}, my $data, 1;
}


sub stop { shift->{front}->stop }


sub begin {
    my ($self, $who, $name, $uri, $n) = @_;

    my $s = $self->{ng}->connect($n);
    $uri //= '/v1/execute';
    print $s "POST $uri?$name HTTP/1.1\r\nHost: l\r\nX-Who: $who\r\n"
        . "Connection: close\r\nContent-Length: 2\r\n\r\n{}";
    return $s;
}


sub status {
    my ($self, $uri) = @_;
    return decode_json($self->{ng}->get($uri // '/status')->{body});
}


sub is_status {
    my ($self, $running, $waiting, $name, $uri) = @_;

    my $s;
    ok $self->{ng}->wait_for(sub {
        $s = $self->status($uri);
        $s->{running} == $running && $s->{waiting} == $waiting;
    }, 10), $name or diag explain $s;
}


sub begun { return split /\n/, shift->{ng}->slurp('begun') }

sub last { return (shift->begun)[-1] // '' }


sub wait_begun {
    my ($self, $n) = @_;
    return $self->{ng}->wait_for(sub { (() = $self->begun) >= $n }, 10);
}


sub end { $_[0]{ng}->write("end-$_[1]", '') }
sub end_all { shift->{ng}->write('end', '') }


1;
