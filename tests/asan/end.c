
/*
 * Linked into the front of "make asan".  It ends by _exit(), while its threads
 * wait, so that nothing would look for what it has lost.
 */

#include <sanitizer/lsan_interface.h>


void __real__exit(int code) __attribute__((noreturn));
void __wrap__exit(int code) __attribute__((noreturn));


void
__wrap__exit(int code)
{
    (void) __lsan_do_recoverable_leak_check();
    __real__exit(code);
}
