
/*
 * What Qwen-Agent gives as arguments: JSON5, or code in a fence.
 *
 * links: front helper/lib/log.c helper/lib/fdpass.c
 */

#include <string.h>

#include "front/dialect/qwen.h"
#include "front/json5.h"
#include "front/utf8.h"
#include "fuzz.h"


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;

    return 0;
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    err_t     e;
    buf_t     code;
    char     *p;
    json5_t   v;

    p = fuzz_copy(data, size);
    memset(&v, 0, sizeof(v));
    json5_read(&v, p, size);
    FUZZ_CHECK(!utf8_valid(p, size)
               || utf8_valid(v.text.data != NULL ? v.text.data : "",
                             v.text.len));
    FUZZ_CHECK(v.text.len <= 3 * size);
    buf_free(&v.text);

    memset(&e, 0, sizeof(e));
    memset(&code, 0, sizeof(code));
    (void) qwen_code(p, size, &code, &e);
    FUZZ_CHECK(code.len <= 3 * size + 64);
    buf_free(&code);
    free(p);

    return 0;
}
