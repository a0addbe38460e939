#!/usr/bin/perl

# tests/dialect/native/openapi.t, with containers as sandboxes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";
use Retort::Same;

Retort::Same::run('dialect/native/openapi.t');
