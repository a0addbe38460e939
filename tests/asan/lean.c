
/*
 * Linked into the front of objs/asan/lean, for tests that look at how much
 * memory it has: what is freed is used again soon.  ASan otherwise keeps up to
 * 256 MB of it, to find who still uses it.
 */

const char *__asan_default_options(void);


/* what the launcher executes has no environment */

const char *
__asan_default_options(void)
{
    return "quarantine_size_mb=1:thread_local_quarantine_size_kb=8";
}
