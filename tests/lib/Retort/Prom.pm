package Retort::Prom;

# A strict reader of Prometheus' text format 0.0.4, written from its
# description: whatever is not as it says is an error.
#
#   my $p = Retort::Prom->parse($text);      # dies with the line
#   $p->value('retort_runs_total', workspace => 'demo', verdict => 'ok');

use strict;
use warnings;

my $NAME = qr/[a-zA-Z_:][a-zA-Z0-9_:]*/;
my $LABEL = qr/[a-zA-Z_][a-zA-Z0-9_]*/;
my $NUMBER = qr/[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Inf)|NaN/;


sub labels {
    my ($text, $where) = @_;

    my %labels;

    while ($text =~ /\G($LABEL)="((?:[^"\\\n]|\\[\\"n])*)"(,|\z)/gc) {
        my ($name, $value) = ($1, $2);

        die "$where: label $name stands twice\n" if exists $labels{$name};
        $value =~ s/\\(.)/$1 eq 'n' ? "\n" : $1/ge;
        $labels{$name} = $value;
    }

    die "$where: bad labels: $text\n" if (pos($text) // 0) != length $text;

    return \%labels;
}


# the family that a line belongs to: a histogram has lines of three names

sub family {
    my ($self, $name) = @_;

    return $name if $self->{type}{$name}
                    && $self->{type}{$name} ne 'histogram';

    my ($base) = $name =~ /^(.*)_(?:bucket|sum|count)\z/;

    return $base if defined $base
                    && ($self->{type}{$base} // '') eq 'histogram';

    return;
}


sub meta {
    my ($self, $line, $where) = @_;

    my ($what, $name, $rest) = $line =~ /^# (HELP|TYPE) ($NAME) (.+)\z/
        or die "$where: neither HELP nor TYPE\n";
    my $key = lc $what;

    die "$where: a second $what of $name\n" if exists $self->{$key}{$name};
    die "$where: unknown type\n"
        if $what eq 'TYPE' && $rest !~ /^(?:counter|gauge|histogram)\z/;
    die "$where: TYPE without HELP\n"
        if $what eq 'TYPE' && !exists $self->{help}{$name};

    $self->{$key}{$name} = $rest;
    $self->{now} = $name;

    return;
}


sub sample {
    my ($self, $line, $where) = @_;

    my ($name, undef, $text, $value) =
        $line =~ /^($NAME)(\{(.*)\})? ($NUMBER)\z/
        or die "$where: no sample\n";
    my $family = $self->family($name)
        or die "$where: $name has no TYPE before it\n";

    die "$where: $name stands among lines of $self->{now}\n"
        if $family ne $self->{now};
    die "$where: a counter that does not end in _total\n"
        if $self->{type}{$family} eq 'counter' && $name !~ /_total\z/;

    my $labels = labels($text // '', $where);
    my $key = join "\0", $name, map { "$_=$labels->{$_}" } sort keys %$labels;

    die "$where: the same sample twice\n" if $self->{seen}{$key}++;

    push @{ $self->{samples} },
        { name => $name, labels => $labels, value => $value };

    return;
}


# buckets that grow, the last of all +Inf and the count; a sum

sub histograms {
    my ($self) = @_;

    my %h;

    for my $s (@{ $self->{samples} }) {
        my ($base, $what) = $s->{name} =~ /^(.*)_(bucket|sum|count)\z/ or next;
        next unless ($self->{type}{$base} // '') eq 'histogram';

        my %l = %{ $s->{labels} };
        my $le = delete $l{le};
        my $key = join ',', $base, map { "$_=$l{$_}" } sort keys %l;

        if ($what eq 'bucket') {
            die "$key: a bucket without le\n" unless defined $le;
            push @{ $h{$key}{buckets} },
                [$le eq '+Inf' ? 9**9**9 : $le, $s->{value}];

        } else {
            $h{$key}{$what} = $s->{value};
        }
    }

    for my $key (keys %h) {
        my @b = @{ $h{$key}{buckets} // [] };

        die "$key: no bucket +Inf at the end\n"
            unless @b && $b[-1][0] == 9**9**9;

        for my $i (1 .. $#b) {
            die "$key: bounds do not grow\n" if $b[$i][0] <= $b[$i - 1][0];
            die "$key: counts fall\n" if $b[$i][1] < $b[$i - 1][1];
        }

        die "$key: count is not the last bucket\n"
            unless defined $h{$key}{count} && $h{$key}{count} == $b[-1][1];
        die "$key: no sum\n" unless defined $h{$key}{sum};
    }

    return;
}


sub parse {
    my ($class, $text) = @_;

    my $self = bless { samples => [], now => '' }, $class;
    my $n = 0;

    die "the last line has no end\n" if $text !~ /\n\z/;

    for my $line (split /\n/, $text) {
        my $where = 'line ' . ++$n . " \"$line\"";

        if ($line =~ /^#/) {
            $self->meta($line, $where);

        } else {
            $self->sample($line, $where);
        }
    }

    for my $name (keys %{ $self->{help} }) {
        die "$name: HELP without TYPE\n" unless $self->{type}{$name};
    }

    $self->histograms;

    return $self;
}


# samples of a name that have these labels, and maybe more

sub all {
    my ($self, $name, %labels) = @_;

    return grep {
        my $s = $_;
        $s->{name} eq $name && !grep {
            ($s->{labels}{$_} // '') ne $labels{$_}
        } keys %labels;
    } @{ $self->{samples} };
}


# the one sample's value; nothing if there is none, or more than one

sub value {
    my ($self, $name, %labels) = @_;

    my @all = $self->all($name, %labels);

    return @all == 1 ? $all[0]{value} : undef;
}


1;
