#!/usr/bin/perl

# tests/dialect/mcp/service.t, with containers as sandboxes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";
use Retort::Same;

Retort::Same::run('dialect/mcp/service.t');
