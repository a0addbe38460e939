#!/usr/bin/perl

# tests/dialect/azure/service.t, with containers as sandboxes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";
use Retort::Same;

Retort::Same::run('dialect/azure/service.t');
