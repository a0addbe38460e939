
/*
 * Part of retortctl: a session pool of Azure becomes a profile.  What a pool
 * may not have is refused; what a profile has not is told in comments.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "arm.h"


#define POOL_SESSIONS      4096
#define POOL_INTERPRETERS  600          /* Azure's bound for its own images */
#define POOL_COOL_MIN      300
#define POOL_COOL_MAX      3600
#define POOL_YEAR          31536000
#define POOL_THRESHOLD     60           /* Azure's own samples are above 10 */
#define POOL_CORES         64
#define POOL_GIB           1024


typedef struct {
    arm_t         arm;
    json_object  *of;           /* its properties */
    json_object  *container;    /* NULL: an image of Azure's own */
    int           bad;
    int64_t       max;
    FILE         *out;          /* nothing is printed of a bad one */
} pool_t;


static int
pool_bad(pool_t *p, const char *what, const char *why)
{
    ctl_error("%s: %s %s", p->arm.file, what, why);
    p->bad = -1;

    return -1;
}


static const char *
pool_text(pool_t *p, json_object *o, const char *path, const char *otherwise)
{
    json_object  *v;

    v = arm_at(&p->arm, o, path, &p->bad);

    if (v == NULL) {
        return otherwise;
    }

    if (!json_object_is_type(v, json_type_string)) {
        (void) pool_bad(p, path, "must be a string");
        return otherwise;
    }

    return json_object_get_string(v);
}


static int64_t
pool_number(pool_t *p, json_object *o, const char *path, int64_t otherwise,
    int64_t min, int64_t max)
{
    char          why[80];
    int64_t       n;
    json_object  *v;

    v = arm_at(&p->arm, o, path, &p->bad);

    if (v == NULL) {
        return otherwise;
    }

    n = json_object_get_int64(v);

    if (!json_object_is_type(v, json_type_int) || n < min || n > max) {
        (void) snprintf(why, sizeof(why), "must be from %" PRId64 " to %"
                        PRId64, min, max);
        (void) pool_bad(p, path, why);
        return otherwise;
    }

    return n;
}


static int
pool_is(pool_t *p, const char *path)
{
    json_object  *v;

    v = arm_at(&p->arm, p->of, path, &p->bad);

    if (v != NULL && !json_object_is_type(v, json_type_boolean)) {
        (void) pool_bad(p, path, "must be true or false");
    }

    return v != NULL && json_object_get_boolean(v);
}


static void
pool_kind(pool_t *p)
{
    const char  *kind;

    if (strcasecmp(pool_text(p, p->of, "poolManagementType", "Dynamic"),
                   "Dynamic") != 0)
    {
        (void) pool_bad(p, "poolManagementType", "must be Dynamic");
    }

    kind = pool_text(p, p->of, "containerType", "CustomContainer");

    if (strcasecmp(kind, "CustomContainer") != 0
        && strcasecmp(kind, "PythonLTS") != 0
        && strcasecmp(kind, "Shell") != 0)
    {
        (void) pool_bad(p, "containerType", "must be CustomContainer, "
                        "PythonLTS or Shell");
    }

    p->container = arm_at(&p->arm, p->of, "customContainerTemplate.containers",
                          &p->bad);

    if (p->container == NULL) {
        if (strcasecmp(kind, "CustomContainer") == 0) {
            (void) pool_bad(p, "customContainerTemplate", "has no containers");
        }

        return;
    }

    if (!json_object_is_type(p->container, json_type_array)
        || json_object_array_length(p->container) != 1)
    {
        (void) pool_bad(p, "containers", "must be one");
        p->container = NULL;
        return;
    }

    p->container = json_object_array_get_idx(p->container, 0);
}


static void
pool_scale(pool_t *p)
{
    int64_t  ready;

    p->max = pool_number(p, p->of, "scaleConfiguration.maxConcurrentSessions",
                         10, 1, p->container != NULL ? POOL_SESSIONS
                                                     : POOL_INTERPRETERS);
    ready = pool_number(p, p->of, "scaleConfiguration.readySessionInstances",
                        p->container != NULL ? 0 : -1, 0, POOL_SESSIONS);

    if (p->container != NULL && (ready == 0 || ready >= p->max)) {
        (void) pool_bad(p, "readySessionInstances", "must be above 0 and below "
                        "maxConcurrentSessions "
                        "(SessionPoolInvalidReadySessionInstances)");
    }

    (void) fprintf(p->out, "sessions %" PRId64 "\n", p->max);

    if (ready >= 0) {
        (void) fprintf(p->out, "ready %" PRId64 "\n",
                       ready < p->max ? ready : p->max);
    }
}


/* in a configuration of its own, or as it was before */

static void
pool_life(pool_t *p)
{
    int64_t       cool, alive;
    const char   *type;
    json_object  *life;

    life = arm_at(&p->arm, p->of,
                  "dynamicPoolConfiguration.lifecycleConfiguration", &p->bad);
    type = pool_text(p, life, "lifecycleType", "Timed");

    if (life == NULL) {
        life = arm_at(&p->arm, p->of, "dynamicPoolConfiguration", &p->bad);
        type = pool_text(p, life, "executionType", "Timed");
    }

    if (strcasecmp(type, "OnContainerExit") == 0) {
        alive = pool_number(p, life, "maxAlivePeriodInSeconds", 0, 1,
                            POOL_YEAR);

        if (alive == 0 || p->container == NULL) {
            (void) pool_bad(p, "OnContainerExit", "needs a custom container "
                            "and maxAlivePeriodInSeconds");
        }

        (void) fprintf(p->out, "life exit\nalive %" PRId64 "s\n", alive);
        return;
    }

    if (strcasecmp(type, "Timed") != 0) {
        (void) pool_bad(p, "lifecycleType", "must be Timed or "
                        "OnContainerExit");
    }

    cool = pool_number(p, life, "cooldownPeriodInSeconds", POOL_COOL_MIN,
                       POOL_COOL_MIN, POOL_COOL_MAX);
    (void) fprintf(p->out, "life timed\nttl %" PRId64 "s %" PRId64 "s\n", cool,
                   cool);
}


static void
pool_cores(pool_t *p)
{
    double        cores;
    json_object  *v;

    v = arm_at(&p->arm, p->container, "resources.cpu", &p->bad);

    if (v == NULL) {
        return;
    }

    /* a number, or an expression that has made a text of it */
    cores = json_object_is_type(v, json_type_string)
            ? strtod(json_object_get_string(v), NULL)
            : json_object_get_double(v);

    if (!(cores >= 0.01) || cores > POOL_CORES) {
        (void) pool_bad(p, "resources.cpu", "must be from 0.01 to 64");
        return;
    }

    (void) fprintf(p->out, "cpu %g %g\n", cores, cores);
}


static void
pool_memory(pool_t *p)
{
    char         *end;
    double        gib;
    long          mib;
    const char   *text;

    text = pool_text(p, p->container, "resources.memory", NULL);

    if (text == NULL) {
        return;
    }

    gib = strtod(text, &end);

    if (strcasecmp(end, "Gi") != 0 || !(gib >= 0.1) || gib > POOL_GIB) {
        (void) pool_bad(p, "resources.memory", "must be like 2Gi");
        return;
    }

    mib = (long) (gib * 1024);
    (void) fprintf(p->out, "memory %ldm %ldm\n", mib, mib);
}


static void
pool_probe(pool_t *p, json_object *probe)
{
    const char  *type;

    type = pool_text(p, probe, "type", "");

    if (strcasecmp(type, "Liveness") != 0 && strcasecmp(type, "Startup") != 0) {
        (void) pool_bad(p, "probes", "are of type Liveness or Startup");
    }

    (void) pool_number(p, probe, "failureThreshold", 3, 1, POOL_THRESHOLD);
    (void) pool_number(p, probe, "initialDelaySeconds", 1, 0, 60);
    (void) pool_number(p, probe, "periodSeconds", 10, 1, 240);
    (void) pool_number(p, probe, "successThreshold", 1, 1, 10);
    (void) pool_number(p, probe, "timeoutSeconds", 1, 1, 240);
    (void) pool_number(p, probe, "terminationGracePeriodSeconds", 0, 0, 3600);
    (void) fprintf(p->out, "# probe %s: %s\n", type,
                   strcasecmp(type, "Startup") == 0 ? "/health/startup"
                                                    : "/health");
}


static void
pool_probes(pool_t *p)
{
    size_t        i;
    json_object  *all;

    all = arm_at(&p->arm, p->container, "probes", &p->bad);

    if (all != NULL && !json_object_is_type(all, json_type_array)) {
        (void) pool_bad(p, "probes", "must be a list");
        return;
    }

    for (i = 0; all != NULL && i < json_object_array_length(all); i++) {
        pool_probe(p, json_object_array_get_idx(all, i));
    }
}


/* what a profile does not have */

static void
pool_notes(pool_t *p)
{
    size_t  i;

    static const struct {
        const char  *path;
        const char  *note;
    } notes[] = {
        { "customContainerTemplate.registryCredentials",
          "registryCredentials: no image is fetched" },
        { "secrets", "secrets: none are given to sandboxes" },
        { "managedIdentitySettings", "managedIdentitySettings: there are no "
          "identities in sandboxes" }
    };

    for (i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
        if (arm_at(&p->arm, p->of, notes[i].path, &p->bad) != NULL) {
            (void) fprintf(p->out, "# %s\n", notes[i].note);
        }
    }

    if (p->container != NULL) {
        (void) fprintf(p->out, "# image: auto/image makes one, \"rootfs\" "
                       "names it\n");
    }

    if (arm_at(&p->arm, p->container, "env", &p->bad) != NULL) {
        (void) fprintf(p->out, "# env: a request says it, a profile does "
                       "not\n");
    }

    if (strcasecmp(pool_text(p, p->of, "sessionNetworkConfiguration.status",
                             "EgressDisabled"), "EgressEnabled") == 0)
    {
        (void) fprintf(p->out, "# sessionNetworkConfiguration: there is no "
                       "network in a sandbox\n");
    }

    if (pool_is(p, "mcpServerSettings.isMcpServerEnabled")) {
        (void) fprintf(p->out, "# mcpServerSettings: a location with "
                       "\"retort_api azure_mcp\"%s\n",
                       pool_is(p, "mcpServerSettings.isMcpServerApiKeyDisabled")
                       ? ", which always needs a key" : "");
    }
}


int
pool_profile(const ctl_t *ctl)
{
    char         *text;
    size_t        len;
    pool_t        p;
    json_object  *name;

    memset(&p, 0, sizeof(p));
    text = NULL;
    p.out = open_memstream(&text, &len);

    if (p.out == NULL) {
        ctl_error("out of memory");
        return CTL_NO;
    }

    if (arm_read(&p.arm, ctl->args[0], ctl->parameters) == -1) {
        arm_free(&p.arm);
        (void) fclose(p.out);
        free(text);
        return CTL_NO;
    }

    p.of = arm_at(&p.arm, p.arm.pool, "properties", &p.bad);
    name = arm_at(&p.arm, p.arm.pool, "name", NULL);

    if (json_object_is_type(name, json_type_string)
        && strspn(json_object_get_string(name), "abcdefghijklmnopqrstuvwxyz"
                                                "0123456789")
           == strlen(json_object_get_string(name)))
    {
        (void) fprintf(p.out, "# the session pool %s\n",
                       json_object_get_string(name));
    }

    pool_kind(&p);
    pool_scale(&p);
    pool_life(&p);
    pool_cores(&p);
    pool_memory(&p);
    (void) fprintf(p.out, "timeout 120s 220s\n");
    pool_probes(&p);
    pool_notes(&p);

    arm_free(&p.arm);

    if (fclose(p.out) != 0) {
        ctl_error("out of memory");
        p.bad = -1;
    }

    if (p.bad == 0) {
        (void) fputs(text, stdout);
    }

    free(text);

    return p.bad == 0 ? CTL_OK : CTL_NO;
}
