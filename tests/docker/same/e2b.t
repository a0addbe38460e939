#!/usr/bin/perl

# tests/dialect/e2b/life.t, with containers as sandboxes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";
use Retort::Same;

Retort::Same::run('dialect/e2b/life.t');
