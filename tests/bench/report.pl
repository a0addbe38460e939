#!/usr/bin/perl

# Writes docs/benchmarks/README.md's table and index.html from results.json.

use strict;
use warnings;

use Retort::Bench::Report;

Retort::Bench::Report->new("$Retort::Bench::TOP/docs/benchmarks")->write;
