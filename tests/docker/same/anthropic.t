#!/usr/bin/perl

# tests/dialect/anthropic/service.t, with containers as sandboxes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";
use Retort::Same;

Retort::Same::run('dialect/anthropic/service.t');
