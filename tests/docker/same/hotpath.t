#!/usr/bin/perl

# tests/sandbox/hotpath.t, with containers as sandboxes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";
use Retort::Same;

Retort::Same::run('sandbox/hotpath.t');
