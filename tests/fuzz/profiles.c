
/*
 * retortd's file and a profile's: root wrote them, but a slip of the hand must
 * end in an error, never in a wall that is not there.
 *
 * links: tests/fuzz/lib/quiet.c
 */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "start/conf.c"


int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void) argc;
    (void) argv;

    return 0;
}


/* every line of it, by one of the two tables; 0 or -1 */

static int
lines(conf_ctx_t *c, char *line)
{
    char  *next;

    for (c->line = 1; line != NULL; c->line++, line = next) {
        next = strchr(line, '\n');

        if (next != NULL) {
            *next++ = '\0';
        }

        if (conf_line(c, line) == -1) {
            return -1;
        }
    }

    return 0;
}


static void
in_bounds(const retort_profile_t *p)
{
    FUZZ_CHECK(p->box.memory <= p->box_max.memory);
    FUZZ_CHECK(p->box.processes <= p->box_max.processes);
    FUZZ_CHECK(p->box.cpu <= p->box_max.cpu);
    FUZZ_CHECK(p->run.timeout <= p->run_max.timeout);
    FUZZ_CHECK(p->run.request <= p->run_max.request);
    FUZZ_CHECK(p->box.memory != 0 && p->box_max.memory <= 1024 * G);
    FUZZ_CHECK(p->run.timeout != 0 && p->run.output != 0);
    FUZZ_CHECK(p->life <= 1 && p->snapshot <= 1 && p->fence <= 1);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char             *copy;
    uint8_t           which;
    conf_ctx_t        c;
    static start_t    s;

    which = fuzz_byte(&data, &size);
    copy = strndup((const char *) data, size < CONF_FILE ? size : CONF_FILE);

    if (copy == NULL) {
        return 0;
    }

    memset(&s, 0, sizeof(s));
    memset(&c, 0, sizeof(c));
    c.path = "input";

    if (which == 'p') {
        s.settings.profile[0] = conf_defaults;
        c.rows = conf_profile_rows;
        c.nrows = sizeof(conf_profile_rows) / sizeof(conf_profile_rows[0]);
        c.target = (char *) &s.settings.profile[0];
        c.args = s.args[0];
        c.text = &s.rootfs[0];

        if (lines(&c, copy) == 0) {
            in_bounds(&s.settings.profile[0]);
        }

    } else {
        c.rows = conf_rows;
        c.nrows = sizeof(conf_rows) / sizeof(conf_rows[0]);
        c.target = (char *) &s;

        s.node = s.name = s.group = "local";

        if (lines(&c, copy) == 0) {
            (void) conf_check(&s);
        }
    }

    free(copy);

    return 0;
}
