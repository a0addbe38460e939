#!/usr/bin/perl

# tests/sandbox/life.t, with containers as sandboxes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";
use Retort::Same;

Retort::Same::run('sandbox/life.t');
