
/*
 * In retort-front, as its own uid without any capability.  Names of workspaces
 * and zones come from the web server: whatever is in them stays inside of a
 * label's quotes.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "prom.h"


#define PROM_NAME  64


const uint64_t  prom_bounds[PROM_BUCKETS] = {
    100, 250, 500,
    1000, 2500, 5000,
    10000, 25000, 50000,
    100000, 250000, 500000,
    1000000, 2500000, 5000000,
    10000000, 30000000, 60000000,
    120000000, 300000000
};


unsigned
prom_bucket(uint64_t us)
{
    unsigned  i;

    for (i = 0; i < PROM_BUCKETS && us > prom_bounds[i]; i++) { /* void */ }

    return i;
}


void
prom_seconds(uint64_t us, char text[PROM_SECONDS])
{
    size_t  n;

    (void) snprintf(text, PROM_SECONDS, "%" PRIu64 ".%06" PRIu64,
                    us / 1000000, us % 1000000);

    for (n = strlen(text); text[n - 1] == '0'; n--) { /* void */ }

    text[text[n - 1] == '.' ? n - 1 : n] = '\0';
}


/* a help text is ours, but a line's end in it would still break the page */

static void
prom_escaped(buf_t *to, const char *s, int quotes)
{
    const char  *p;

    for (p = s; *p != '\0'; p++) {
        if (*p == '\n') {
            (void) buf_puts(to, "\\n");

        } else if (*p == '\\' || (quotes && *p == '"')) {
            (void) buf_add(to, "\\", 1);
            (void) buf_add(to, p, 1);

        } else {
            (void) buf_add(to, p, 1);
        }
    }
}


void
prom_head(buf_t *to, const char *name, const char *type, const char *help)
{
    (void) buf_printf(to, "# HELP %s ", name);
    prom_escaped(to, help, 0);
    (void) buf_printf(to, "\n# TYPE %s %s\n", name, type);
}


void
prom_label(buf_t *labels, const char *name, const char *value)
{
    (void) buf_printf(labels, "%s%s=\"", labels->len != 0 ? "," : "", name);
    prom_escaped(labels, value, 1);
    (void) buf_puts(labels, "\"");
}


void
prom_line(buf_t *to, const char *name, const buf_t *labels, const char *value)
{
    (void) buf_puts(to, name);

    if (labels != NULL && labels->len != 0) {
        (void) buf_puts(to, "{");
        (void) buf_add(to, labels->data, labels->len);
        (void) buf_puts(to, "}");
    }

    (void) buf_printf(to, " %s\n", value);
}


void
prom_count(buf_t *to, const char *name, const buf_t *labels, uint64_t value)
{
    char  text[PROM_SECONDS];

    (void) snprintf(text, sizeof(text), "%" PRIu64, value);
    prom_line(to, name, labels, text);
}


static void
prom_buckets(buf_t *to, const char *name, const buf_t *labels,
    const prom_histogram_t *h)
{
    char      part[PROM_NAME], le[PROM_SECONDS];
    buf_t     all;
    unsigned  i;
    uint64_t  count;

    (void) snprintf(part, sizeof(part), "%s_bucket", name);

    for (count = 0, i = 0; i <= PROM_BUCKETS; i++) {
        count += h->bucket[i];

        if (i < PROM_BUCKETS) {
            prom_seconds(prom_bounds[i], le);

        } else {
            (void) snprintf(le, sizeof(le), "+Inf");
        }

        memset(&all, 0, sizeof(all));
        (void) buf_add(&all, labels->data, labels->len);
        prom_label(&all, "le", le);
        prom_count(to, part, &all, count);
        to->failed |= all.failed;
        buf_free(&all);
    }
}


void
prom_histogram(buf_t *to, const char *name, const buf_t *labels,
    const prom_histogram_t *h)
{
    char      part[PROM_NAME], sum[PROM_SECONDS];
    unsigned  i;
    uint64_t  count;

    prom_buckets(to, name, labels, h);

    (void) snprintf(part, sizeof(part), "%s_sum", name);
    prom_seconds(h->sum, sum);
    prom_line(to, part, labels, sum);

    for (count = 0, i = 0; i <= PROM_BUCKETS; i++) {
        count += h->bucket[i];
    }

    (void) snprintf(part, sizeof(part), "%s_count", name);
    prom_count(to, part, labels, count);
}
