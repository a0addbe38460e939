#!/usr/bin/perl

# tests/dialect/qwen/tool.t, with containers as sandboxes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";
use Retort::Same;

Retort::Same::run('dialect/qwen/tool.t');
