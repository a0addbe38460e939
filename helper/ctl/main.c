
/*
 * retortctl: run by root, or by somebody of the control group, with the rights
 * of who runs it.  It believes its command line and root's files; of the front
 * that it is the front, since root made the socket.
 */

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "lib/log.h"
#include "protocol/version.h"


#define MAIN_SOCKET  "/run/retort/control.sock"
#define MAIN_CONF    "/etc/retort/retortd.conf"
#define MAIN_KEYS    "/etc/retort/keys"
#define MAIN_PID     "/run/nginx.pid"


/* options, each a letter of a command's list */

typedef struct {
    const char  *name;
    char         letter;
    int          value;         /* does it take one? */
    const char  *of;
    const char  *what;
} main_option_t;

static const main_option_t  main_options[] = {
    { "json", 'j', 0, "", "prints JSON" },
    { "help", 'h', 0, "", "prints this, or what a command takes" },
    { "version", 'V', 0, "", "prints the version" },
    { "socket", 's', 1, "PATH", "the control socket (" MAIN_SOCKET ")" },
    { "all", 'a', 0, "", "also the sandboxes that wait for a request" },
    { "workspace", 'w', 1, "NAME", "who runs it (retortctl)" },
    { "profile", 'p', 1, "NAME", "the profile; of a key: some, with commas" },
    { "scope", 'S', 1, "NAME", "of a key: execute, files, admin; some, with "
      "commas" },
    { "language", 'l', 1, "LANG", "python or bash (by the file's name)" },
    { "timeout", 't', 1, "SECONDS", "of the run" },
    { "off", 'o', 0, "", "takes work again" },
    { "kick", 'K', 0, "", "tries to fill the pools now" },
    { "keys", 'k', 1, "PATH", "the file of keys (" MAIN_KEYS ")" },
    { "id", 'i', 1, "ID", "this key alone, as \"key list\" names it" },
    { "save", 'v', 0, "", "keeps the key for \"key fetch\", readable to root" },
    { "reload", 'r', 0, "", "lets nginx read the file" },
    { "pid-file", 'P', 1, "PATH", "nginx' own (" MAIN_PID ")" },
    { "head", 'H', 1, "N:HASH", "a line that must be there, as it was told" },
    { "parameters", 'A', 1, "FILE", "values of a template's parameters" },
    { "conf", 'c', 1, "PATH", "retortd's file (" MAIN_CONF ")" }
};

#define MAIN_OPTIONS  (sizeof(main_options) / sizeof(main_options[0]))


/* the letters beside j, h and V */

typedef struct {
    const char  *name;
    const char  *sub;           /* its second word, or NULL */
    const char  *args;
    int          min;
    int          max;
    const char  *letters;
    const char  *what;
    int        (*run)(const ctl_t *ctl);
} main_command_t;

static const main_command_t  main_commands[] = {
    { "ps", NULL, "", 0, 0, "sa", "lists sandboxes", show_ps },
    { "show", NULL, "ID", 1, 1, "s", "shows one, and what it uses", show_one },
    { "kill", NULL, "ID", 1, 1, "s", "ends one, whatever runs in it",
      show_kill },
    { "run", NULL, "FILE", 1, 1, "swplt", "runs a file, \"-\" for standard "
      "input, in a fresh sandbox", run_file },
    { "drain", NULL, "", 0, 0, "so", "takes no new runs and sandboxes",
      show_drain },
    { "pool", NULL, "", 0, 0, "sK", "shows the profiles' pools", show_pool },
    { "key", "add", "WORKSPACE", 1, 1, "kpSrPv", "makes a key, and prints it "
      "this once", key_add },
    { "key", "list", "", 0, 0, "k", "lists keys without showing them",
      key_list },
    { "key", "revoke", "WORKSPACE", 1, 1, "kirP", "removes a workspace's keys",
      key_revoke },
    { "key", "rotate", "WORKSPACE", 1, 1, "kipSrPv", "makes a key in the place "
      "of a workspace's others", key_rotate },
    { "key", "fetch", "WORKSPACE", 1, 1, "k", "prints a key that was kept",
      key_fetch },
    { "profile", "check", "[FILE]", 0, 1, "c", "checks the configuration, or "
      "one profile's file", check_profile },
    { "profile", "from-arm", "FILE", 1, 1, "A", "prints what a session pool "
      "of Azure would be as a profile", pool_profile },
    { "audit", "verify", "[DIR]", 0, 1, "cH", "checks the log of runs for "
      "lines that were changed or are missing", audit_verify }
};

#define MAIN_COMMANDS  (sizeof(main_commands) / sizeof(main_commands[0]))


void
ctl_error(const char *fmt, ...)
{
    va_list  args;

    (void) fputs("retortctl: ", stderr);
    va_start(args, fmt);
    (void) vfprintf(stderr, fmt, args);
    va_end(args);
    (void) fputc('\n', stderr);
}


static int
main_takes(const main_command_t *c, char letter)
{
    return strchr("jhV", letter) != NULL
           || (c != NULL && strchr(c->letters, letter) != NULL);
}


static void
main_name(FILE *f, const main_command_t *c)
{
    (void) fprintf(f, "%s%s%s%s%s", c->name, c->sub != NULL ? " " : "",
                   c->sub != NULL ? c->sub : "", c->args[0] != '\0' ? " " : "",
                   c->args);
}


/* of one command, or of all if it is NULL */

static int
main_help(FILE *f, const main_command_t *c)
{
    size_t                 i;
    const main_option_t   *o;
    const main_command_t  *row;

    (void) fprintf(f, "usage: retortctl ");

    if (c != NULL) {
        main_name(f, c);
        (void) fprintf(f, " [option ...]: %s\n", c->what);

    } else {
        (void) fprintf(f, "command [option ...]\n\n");

        for (i = 0; i < MAIN_COMMANDS; i++) {
            row = &main_commands[i];
            (void) fprintf(f, "  ");
            main_name(f, row);
            (void) fprintf(f, ": %s\n", row->what);
        }
    }

    (void) fprintf(f, "\n");

    for (i = 0; i < MAIN_OPTIONS; i++) {
        o = &main_options[i];

        if (c == NULL || main_takes(c, o->letter)) {
            (void) fprintf(f, "  --%s%s%s: %s\n", o->name,
                           o->value ? " " : "", o->of, o->what);
        }
    }

    return f == stderr ? CTL_USAGE : CTL_OK;
}


static void
main_set(ctl_t *ctl, char letter, const char *value)
{
    switch (letter) {
    case 'j': ctl->json = 1; break;
    case 'a': ctl->all = 1; break;
    case 'o': ctl->off = 1; break;
    case 'K': ctl->kick = 1; break;
    case 'r': ctl->reload = 1; break;
    case 'v': ctl->save = 1; break;
    case 's': ctl->socket = value; break;
    case 'w': ctl->workspace = value; break;
    case 'p': ctl->profile = value; break;
    case 'S': ctl->scope = value; break;
    case 'l': ctl->language = value; break;
    case 't': ctl->timeout = value; break;
    case 'k': ctl->keys = value; break;
    case 'i': ctl->id = value; break;
    case 'A': ctl->parameters = value; break;
    case 'H': ctl->head = value; break;
    case 'P': ctl->pid_file = value; break;
    default: ctl->conf = value;
    }
}


/* the letters that were given, in "given"; 0, or -1 */

static int
main_parse(ctl_t *ctl, int argc, char **argv, char *given)
{
    int            letter;
    size_t         i, n;
    struct option  table[MAIN_OPTIONS + 1];

    memset(table, 0, sizeof(table));

    for (i = 0; i < MAIN_OPTIONS; i++) {
        table[i].name = main_options[i].name;
        table[i].has_arg = main_options[i].value;
        table[i].val = main_options[i].letter;
    }

    n = 0;

    while ((letter = getopt_long(argc, argv, "h", table, NULL)) != -1) {
        if (letter == '?') {
            return -1;
        }

        main_set(ctl, (char) letter, optarg);

        if (strchr(given, letter) == NULL) {
            given[n++] = (char) letter;
        }
    }

    ctl->args = argv + optind;
    ctl->nargs = argc - optind;

    return 0;
}


/* takes the command's words off */

static const main_command_t *
main_find(ctl_t *ctl)
{
    int                    words;
    size_t                 i;
    const main_command_t  *c;

    for (i = 0; i < MAIN_COMMANDS; i++) {
        c = &main_commands[i];
        words = c->sub != NULL ? 2 : 1;

        if (ctl->nargs >= words && strcmp(c->name, ctl->args[0]) == 0
            && (c->sub == NULL || strcmp(c->sub, ctl->args[1]) == 0))
        {
            ctl->args += words;
            ctl->nargs -= words;
            return c;
        }
    }

    return NULL;
}


int
main(int argc, char **argv)
{
    char                   given[MAIN_OPTIONS + 1], *p;
    ctl_t                  ctl;
    const main_command_t  *c;

    rlog_init("retortctl");
    memset(&ctl, 0, sizeof(ctl));
    memset(given, 0, sizeof(given));
    ctl.socket = MAIN_SOCKET;
    ctl.conf = MAIN_CONF;
    ctl.keys = MAIN_KEYS;
    ctl.pid_file = MAIN_PID;

    if (main_parse(&ctl, argc, argv, given) == -1) {
        return CTL_USAGE;
    }

    c = main_find(&ctl);

    if (strchr(given, 'V') != NULL) {
        (void) printf("retortctl %s\n", RETORT_VERSION);
        return CTL_OK;
    }

    if (strchr(given, 'h') != NULL) {
        return main_help(stdout, c);
    }

    if (c == NULL) {
        return main_help(stderr, NULL);
    }

    for (p = given; main_takes(c, *p) && *p != '\0'; p++) { /* void */ }

    if (*p != '\0' || ctl.nargs < c->min || ctl.nargs > c->max) {
        return main_help(stderr, c);
    }

    return c->run(&ctl);
}
