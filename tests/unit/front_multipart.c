/*
 * Forms are taken apart the same however their bytes are cut, and anything
 * else is refused within bounds.
 *
 * links: helper/front/multipart.c helper/front/file_type.c
 * links: helper/front/err.c helper/front/buf.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "front/multipart.h"


#define TYPE  "multipart/form-data; boundary=XyZ"

static char         seen[20000];
static size_t       nseen;
static multipart_t  m;


static void
note(const char *p, size_t n)
{
    assert_true(nseen + n < sizeof(seen));
    memcpy(seen + nseen, p, n);
    nseen += n;
    seen[nseen] = '\0';
}


static int
begin(void *data, const multipart_part_t *part, err_t *e)
{
    char  text[2000];

    (void) data;
    (void) e;
    (void) snprintf(text, sizeof(text), "<%s|%s>", part->name, part->file);
    note(text, strlen(text));
    assert_true(part->is_file || part->file[0] == '\0');

    return 0;
}


static int
piece(void *data, const char *p, size_t n, err_t *e)
{
    (void) data;
    (void) e;
    note(p, n);

    return 0;
}


static int
end(void *data, err_t *e)
{
    (void) data;
    (void) e;
    note(";", 1);

    return 0;
}


/* what came out, the bytes given in steps; NULL if it was refused */

static const char *
take(const char *type, const char *body, size_t len, size_t first, size_t step)
{
    size_t  at, n;
    err_t   e;

    memset(&m, 0, sizeof(m));
    m.begin = begin;
    m.piece = piece;
    m.end = end;
    nseen = 0;
    seen[0] = '\0';

    if (multipart_init(&m, type, &e) == -1) {
        return NULL;
    }

    for (at = 0; at < len; at += n) {
        n = at == 0 && first != 0 ? first : step;
        n = n < len - at ? n : len - at;

        if (multipart_feed(&m, body + at, n, &e) == -1) {
            return NULL;
        }
    }

    return multipart_done(&m, &e) == 0 ? seen : NULL;
}


#define form(body)  take(TYPE, body, strlen(body), 0, 100000)

#define HEAD(what)  "Content-Disposition: form-data; " what "\r\n\r\n"
#define FILE_(name) HEAD("name=\"file\"; filename=\"" name "\"")

static const char  two[] =
    "preamble\r\n--XyZ\r\n" FILE_("a.txt") "line\r\n\r--XyZ\r\n--XyY\r\n-"
    "\r\n--XyZ \t\r\nContent-Type: text/plain\r\n"
    "CONTENT-DISPOSITION:form-data; filename=b.bin; name=file\r\n\r\n"
    "\r\n--XyZ--\r\nepilogue --XyZ";

static const char  both[] =
    "<file|a.txt>line\r\n\r--XyZ\r\n--XyY\r\n-;<file|b.bin>;";


static void
a_form_cut_at_every_byte_is_the_same(void **state)
{
    size_t  at, step;

    (void) state;

    for (at = 0; at <= strlen(two); at++) {
        assert_string_equal(take(TYPE, two, strlen(two), at, 100000), both);
    }

    for (step = 1; step < 20; step++) {
        assert_string_equal(take(TYPE, two, strlen(two), 0, step), both);
    }
}


static void
a_form_that_ends_early_is_refused_at_every_byte(void **state)
{
    size_t       len, whole;
    const char  *over;

    (void) state;
    over = strstr(two, "--XyZ--");
    whole = (size_t) (over - two) + 7;

    for (len = 0; len < whole; len++) {
        assert_null(take(TYPE, two, len, 0, 100000));
    }

    assert_string_equal(take(TYPE, two, whole, 0, 100000), both);
}


static void
of_a_name_the_last_component_is_kept(void **state)
{
    static const char *const  names[][2] = {
        { "name=\"file\"; filename=\"/mnt/data/a.csv\"", "<file|a.csv>;" },
        { "name=file; filename=\"C:\\x\\a.csv\"", "<file|a.csv>;" },
        { "name=file; filename=\"a \\\"b\\\";c.csv\"",
          "<file|a \"b\";c.csv>;" },
        { "name=file; filename*=utf-8''%C3%A9+.csv",
          "<file|\xc3\xa9+.csv>;" },
        { "name=file; filename=\"../..\"", "<file|..>;" },
        { "name=\"filename=x\"", "<filename=x|>;" }
    };

    char    body[500];
    size_t  i;

    (void) state;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void) snprintf(body, sizeof(body), "--XyZ\r\nContent-Disposition: "
                        "form-data; %s\r\n\r\n\r\n--XyZ--", names[i][0]);
        assert_string_equal(form(body), names[i][1]);
    }
}


static void
what_is_malformed_is_refused(void **state)
{
    char    body[8000];
    size_t  n;

    (void) state;
    assert_null(form(""));
    assert_null(form("--XyZ"));
    assert_null(form("--XyZ-x"));
    assert_null(form("--XyZx\r\n" FILE_("a") "\r\n--XyZ--"));
    assert_null(form("--XyZ\n" FILE_("a") "\r\n--XyZ--"));
    assert_null(form("--XyZ\r\n\r\n\r\nx\r\n--XyZ--"));
    assert_null(form("--XyZ\r\nX: y\r\n\r\nx\r\n--XyZ--"));
    assert_null(form("--XyZ\r\n" HEAD("filename=\"a\"") "\r\n--XyZ--"));
    assert_null(form("--XyZ\r\n" HEAD("name=\"file") "\r\n--XyZ--"));
    assert_null(form("--XyZ\r\nContent-Disposition: attachment; name=file"
                     "\r\n\r\nx\r\n--XyZ--"));
    assert_null(form("--XyZ\r\nContent-Disposition: form-data; name=a\r\n"
                     FILE_("x") "\r\n--XyZ--"));

    n = (size_t) snprintf(body, sizeof(body), "--XyZ\r\nX-Long: ");
    memset(body + n, 'x', 5000);
    memcpy(body + n + 5000, "\r\n\r\n\r\n--XyZ--", 14);
    assert_null(take(TYPE, body, n + 5013, 0, 100000));

    assert_null(take(TYPE, "--XyZ\r\nX: \0y", 13, 0, 100));
}


static void
a_type_without_a_boundary_is_refused(void **state)
{
    static const char *const  types[] = {
        "", "text/plain", "multipart/form-data", "multipart/form-database",
        "multipart/form-data; boundary=", "multipart/form-data; boundary=\"a",
        "multipart/form-data; boundary="
        "0123456789012345678901234567890123456789012345678901234567890123456"
        "7890", "multipart/mixed; boundary=XyZ"
    };

    size_t  i;

    (void) state;

    for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        assert_null(take(types[i], two, strlen(two), 0, 100));
    }

    assert_non_null(take("Multipart/Form-Data;charset=x; Boundary=\"XyZ\"",
                         two, strlen(two), 0, 100));
}


int
main(void)
{
    static const struct CMUnitTest  all[] = {
        cmocka_unit_test(a_form_cut_at_every_byte_is_the_same),
        cmocka_unit_test(a_form_that_ends_early_is_refused_at_every_byte),
        cmocka_unit_test(of_a_name_the_last_component_is_kept),
        cmocka_unit_test(what_is_malformed_is_refused),
        cmocka_unit_test(a_type_without_a_boundary_is_refused)
    };

    return cmocka_run_group_tests(all, NULL, NULL);
}
