#!/usr/bin/perl

# tests/dialect/ubik/bytes.t, with containers as sandboxes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";
use Retort::Same;

Retort::Same::run('dialect/ubik/bytes.t');
