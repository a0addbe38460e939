package Source;

# What the gates (auto/style, auto/boundary, auto/budget) share: which files
# are ours, and C text with its comments and literals taken out.

use strict;
use warnings;

use Exporter 'import';
use File::Basename qw(dirname);
use Cwd qw(abs_path);

our @EXPORT_OK = qw(tree files slurp bare);


# The directory to look at: the argument, or the project itself.

sub tree {
    my ($dir) = @_;

    $dir = dirname(abs_path(__FILE__)) . '/../..' unless defined $dir;

    my $top = abs_path($dir);
    die "$0: no directory \"$dir\"\n" unless defined $top && -d $top;

    return $top;
}


# All regular files below it, relative, without output and git's own.

sub files {
    my ($top) = @_;

    my @todo = ('');
    my @found;

    while (defined(my $dir = shift @todo)) {
        opendir(my $handle, "$top/$dir") or die "$0: $top/$dir: $!\n";

        for my $name (sort readdir $handle) {
            next if $name eq '.' || $name eq '..';
            next if $dir eq '' && $name =~ /^(?:objs|run|\.git)$/;
            next if $name eq '__pycache__';

            my $path = $dir eq '' ? $name : "$dir/$name";
            next if -l "$top/$path";

            push @todo, $path if -d _;
            push @found, $path if -f _;
        }
    }

    return @found;
}


sub slurp {
    my ($path) = @_;

    open(my $file, '<:raw', $path) or die "$0: $path: $!\n";
    local $/;
    my $text = <$file>;

    return defined $text ? $text : '';
}


# C text in which comments are blanks and the insides of literals are "x", so
# that every line and column stays where it was.

sub bare {
    my ($text) = @_;

    my $blank = sub {
        my ($part, $with) = @_;
        $part =~ s/[^\n]/$with/g;
        return $part;
    };

    $text =~ s{
        (/\*.*?(?:\*/|\z))
        | (//[^\n]*)
        | (["'])((?:\\.|(?!\3)[^\\\n])*)(\3)
    }{
        defined $1 ? $blank->($1, ' ')
        : defined $2 ? $blank->($2, ' ')
        : $3 . $blank->($4, 'x') . $5
    }gsex;

    return $text;
}


1;
