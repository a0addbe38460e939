package Retort::OpenApi;

# An OpenAPI document, and whether answers are what it says.  As much of JSON
# Schema as our own document uses: anything else in a schema is an error.
#
#   my $api = Retort::OpenApi->new($doc);
#   my @faults = $api->answer('get', '/sandboxes/{sandbox_id}', $response);
#   my @never = $api->unseen;       # documented, and no answer was like that

use strict;
use warnings;

use B;
use JSON::PP;

my $json = JSON::PP->new->utf8->allow_nonref;
my %NOTES = map { $_ => 1 } qw(description default contentEncoding type
                               additionalProperties);
my %NESTED = map { $_ => 1 } qw($ref items properties propertyNames);


sub new {
    my ($class, $doc) = @_;
    my $self = bless { doc => $doc, seen => {} }, $class;

    $self->operations(sub {
        my ($method, $path, $op) = @_;
        my $all = $op->{responses};

        for my $status (grep { $_ ne 'default' } keys %$all) {
            my $types = $self->deref($all->{$status})->{content} // { '' => 1 };

            $self->{seen}{"$method $path $status"
                . ($_ ne '' ? " $_" : '')} = 0 for keys %$types;
        }
    });

    return $self;
}


# what $do is called with: method, path, operation, item of the path

sub operations {
    my ($self, $do) = @_;
    my $paths = $self->{doc}{paths};

    for my $path (sort keys %$paths) {
        for my $method (grep { ref $paths->{$path}{$_} eq 'HASH' }
                        sort keys %{ $paths->{$path} })
        {
            $do->($method, $path, $paths->{$path}{$method}, $paths->{$path});
        }
    }
}


sub deref {
    my ($self, $o) = @_;

    while (ref $o eq 'HASH' && exists $o->{'$ref'}) {
        my ($to) = $o->{'$ref'} =~ m{^#/(.+)$} or die "no place: $o->{'$ref'}";

        $o = $self->{doc};
        $o = $o->{$_} // die "nothing is at $to\n" for split m{/}, $to;
    }

    return $o;
}


sub type_of {
    my ($v) = @_;

    return 'null' unless defined $v;
    return 'boolean' if JSON::PP::is_bool($v);
    return ref $v eq 'HASH' ? 'object' : 'array' if ref $v;

    my $flags = B::svref_2object(\$v)->FLAGS;

    return 'string' if $flags & B::SVp_POK;
    return $v == int $v ? 'integer' : 'number';
}


sub is_type {
    my ($is, $may) = @_;

    return grep { $_ eq $is || ($_ eq 'number' && $is eq 'integer') }
        ref $may ? @$may : $may;
}


my %rules = (
    '$ref' => sub { () },
    type => sub {
        my ($self, $rule, $v) = @_;
        return is_type(type_of($v), $rule) ? () : 'is ' . type_of($v);
    },
    enum => sub {
        my ($self, $rule, $v) = @_;
        return (grep { $_ eq $v } @$rule) ? () : "is \"$v\"";
    },
    format => sub {
        my ($self, $rule, $v) = @_;
        return $rule ne 'date-time' || !defined $v
            || $v =~ /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ ? ()
            : "\"$v\" is no time";
    },
    pattern => sub {
        my ($self, $rule, $v) = @_;
        return !defined $v || $v =~ /$rule/ ? ()
            : "\"$v\" does not fit";
    },
    minLength => sub { length $_[2] >= $_[1] ? () : 'is too short' },
    minimum => sub { !defined $_[2] || $_[2] >= $_[1] ? () : 'is too small' },
    exclusiveMinimum => sub { $_[2] > $_[1] ? () : 'is too small' },
    maxItems => sub { @{ $_[2] } <= $_[1] ? () : 'has too many' },
    maxProperties => sub { keys %{ $_[2] } <= $_[1] ? () : 'has too many' },
    propertyNames => sub {
        my ($self, $rule, $v, $at) = @_;
        return map { $self->faults($rule, $_, "$at {$_}") } sort keys %$v;
    },
    required => sub {
        my ($self, $rule, $v) = @_;
        return map { "lacks $_" } grep { !exists $v->{$_} } @$rule;
    },
    items => sub {
        my ($self, $rule, $v, $at) = @_;
        return map { $self->faults($rule, $v->[$_], "$at\[$_]") } 0 .. $#$v;
    },
    oneOf => sub {
        my ($self, $rule, $v, $at) = @_;
        my @each = map { [$self->faults($_, $v, $at)] } @$rule;
        my $fit = grep { !@$_ } @each;

        return if $fit == 1;
        return "fits $fit of the forms: "
            . join ' | ', map { $_->[0] // 'good' } @each;
    },
    properties => sub {
        my ($self, $rule, $v, $at) = @_;
        return map { exists $v->{$_}
            ? $self->faults($rule->{$_}, $v->{$_}, "$at.$_") : () }
            sort keys %$rule;
    },
);


sub beyond {
    my ($self, $s, $v, $at) = @_;
    my $rule = $s->{additionalProperties} // return;
    my @more = grep { !exists $s->{properties}{$_} } sort keys %$v;

    return map { "$at has $_" } @more if JSON::PP::is_bool($rule) && !$rule;
    return map { $self->faults($rule, $v->{$_}, "$at.$_") } @more
        if ref $rule eq 'HASH';
    return;
}


# sentences about what is wrong with a value

sub faults {
    my ($self, $schema, $v, $at) = @_;
    my $s = $self->deref($schema);

    if ($s->{type}) {
        my @no = $rules{type}->($self, $s->{type}, $v);
        return "$at $no[0]" if @no;
    }

    my @faults;

    for my $key (grep { !$NOTES{$_} } sort keys %$s) {
        my $rule = $rules{$key} // die "the schema at $at has a $key\n";

        push @faults, map { $NESTED{$key} ? $_ : "$at $_" }
            $rule->($self, $s->{$key}, $v, $at);
    }

    return (@faults, ref $v eq 'HASH' ? $self->beyond($s, $v, $at) : ());
}


sub events {
    my ($type, $text) = @_;

    return map { $json->decode($_) } grep { $_ ne '' } split /\n/, $text
        if $type eq 'application/x-ndjson';
    return map { $json->decode($_) } $text =~ /^data: (.*)$/mg;
}


sub body {
    my ($self, $content, $res, $at) = @_;
    my ($type) = ($res->{headers}{'content-type'} // '') =~ /^([^;]*)/;
    my $media = $content->{$type} // $content->{'*/*'}
        // return ["$at is of type $type"];
    my $key = exists $content->{$type} ? $type : '*/*';
    my $items = $media->{'x-item-schema'};

    return [$items ? map { $self->faults($items, $_, 'event') }
                         events($type, $res->{content})
            : $type eq 'application/json' && $key ne '*/*'
            ? $self->faults($media->{schema}, $json->decode($res->{content}),
                            'body') : ()], " $key";
}


sub header_faults {
    my ($self, $want, $res) = @_;
    my @faults;

    for my $name (sort keys %{ $want // {} }) {
        my $v = $res->{headers}{lc $name};
        my $schema = $want->{$name}{schema};

        if (!defined $v) {
            push @faults, "no $name" if $want->{$name}{required};
            next;
        }

        $v += 0 if $schema->{type} eq 'integer' && $v =~ /^\d+$/;
        push @faults, $self->faults($schema, $v, $name);
    }

    return @faults;
}


# an answer to that operation, as HTTP::Tiny gives it

sub answer {
    my ($self, $method, $path, $res) = @_;
    my $at = "$method $path $res->{status}";
    my $r = $self->deref($self->{doc}{paths}{$path}{$method}{responses}
        {$res->{status}} // return "$at is not documented");
    my ($faults, $kind) = ([], '');

    if ($r->{content}) {
        ($faults, $kind) = $method eq 'head' ? ([], ' application/json')
            : $self->body($r->{content}, $res, $at);

    } elsif (length $res->{content}) {
        $faults = ["$at has a body"];
    }

    $self->{seen}{$at . ($kind // '')}++;
    return map { "$at: $_" } @$faults,
        $self->header_faults($r->{headers}, $res);
}


sub request_faults {
    my ($self, $method, $path, $type, $v) = @_;
    my $body = $self->{doc}{paths}{$path}{$method}{requestBody};

    return $self->faults($body->{content}{$type}{schema}, $v, 'request');
}


sub unseen {
    my ($self) = @_;
    return grep { !$self->{seen}{$_} } sort keys %{ $self->{seen} };
}


1;
