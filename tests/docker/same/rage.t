#!/usr/bin/perl

# tests/security/rage.t, with containers as sandboxes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../../lib";
use Retort::Same;

Retort::Same::run('security/rage.t');
