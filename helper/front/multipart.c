
/*
 * In retort-front, as its own uid without any capability.  Every byte is the
 * client's.  Nothing is kept but the lines above a part, and those are bounded;
 * content is passed on as it comes.
 *
 * A delimiter begins with CR and has no other CR in it: where it breaks off,
 * what had matched is content, and only the byte at hand can begin another.
 */

#include <string.h>
#include <strings.h>

#include "file_type.h"
#include "multipart.h"


enum {
    MULTIPART_BEFORE,           /* what precedes the first delimiter */
    MULTIPART_CONTENT,
    MULTIPART_MARK,             /* behind a delimiter */
    MULTIPART_DASH,             /* behind a delimiter and "-" */
    MULTIPART_LF,               /* behind a delimiter and CR */
    MULTIPART_HEAD,
    MULTIPART_OVER
};


static int
multipart_bad(err_t *e, const char *why)
{
    return err_set(e, 400, "bad_multipart", "multipart/form-data: %s", why);
}


/*
 * The value of a parameter of a header line, its quotes taken off; -1 if it is
 * malformed or does not fit, 0 if there is none, else 1.
 */

static int
multipart_value(const char *p, char *to, size_t size)
{
    int     quoted;
    size_t  n;

    quoted = (*p == '"');
    p += quoted;

    for (n = 0; *p != '\0'; p++) {
        if (quoted ? *p == '"' : strchr("; \t", *p) != NULL) {
            break;
        }

        if (quoted && p[0] == '\\' && (p[1] == '"' || p[1] == '\\')) {
            p++;
        }

        if (n + 1 >= size) {
            return -1;
        }

        to[n++] = *p;
    }

    to[n] = '\0';

    return quoted && *p != '"' ? -1 : 1;
}


static const char *
multipart_skip(const char *p)
{
    return p + strspn(p, "; \t");
}


/* behind one parameter, quotes and all */

static const char *
multipart_next(const char *p)
{
    int  quoted;

    for (quoted = 0; *p != '\0' && (quoted || *p != ';'); p++) {
        if (quoted && p[0] == '\\' && (p[1] == '"' || p[1] == '\\')) {
            p++;

        } else if (*p == '"') {
            quoted = !quoted;
        }
    }

    return multipart_skip(p);
}


static int
multipart_parameter(const char *line, const char *name, char *to, size_t size)
{
    size_t       n;
    const char  *p;

    n = strlen(name);
    to[0] = '\0';

    for (p = multipart_next(line); *p != '\0'; p = multipart_next(p)) {
        if (strncasecmp(p, name, n) == 0 && p[n] == '=') {
            return multipart_value(p + n + 1, to, size);
        }
    }

    return 0;
}


int
multipart_init(multipart_t *m, const char *type, err_t *e)
{
    char  boundary[BOUND_BOUNDARY + 1];

    if (strncasecmp(type, "multipart/form-data", 19) != 0
        || strchr("; \t", type[19]) == NULL)
    {
        return err_set(e, 415, "unsupported_type",
                       "the body must be multipart/form-data");
    }

    if (multipart_parameter(type, "boundary", boundary, sizeof(boundary)) != 1
        || boundary[0] == '\0' || strpbrk(boundary, "\r\n") != NULL)
    {
        return multipart_bad(e, "its type has no usable boundary");
    }

    (void) memcpy(m->delimiter, "\r\n--", 4);
    (void) memcpy(m->delimiter + 4, boundary, strlen(boundary) + 1);
    m->delimiter_len = strlen(m->delimiter);

    /* the first delimiter may stand at the very beginning */
    m->state = MULTIPART_BEFORE;
    m->matched = 2;
    m->head_len = 0;

    return 0;
}


static int
multipart_piece(multipart_t *m, const char *p, size_t n, err_t *e)
{
    if (m->state == MULTIPART_BEFORE || n == 0) {
        return 0;
    }

    return m->piece(m->data, p, n, e);
}


/* a delimiter is whole */

static int
multipart_mark(multipart_t *m, err_t *e)
{
    int  inside;

    inside = (m->state == MULTIPART_CONTENT);
    m->state = MULTIPART_MARK;
    m->matched = 0;

    return inside ? m->end(m->data, e) : 0;
}


/* content up to the next delimiter; how much of it, or -1 and "e" */

static int
multipart_content(multipart_t *m, const char *p, size_t n, size_t *used,
    err_t *e)
{
    size_t       had;
    const char  *cr;

    if (m->matched == 0) {
        cr = memchr(p, '\r', n);
        *used = cr != NULL ? (size_t) (cr - p) : n;

        if (*used != 0) {
            return multipart_piece(m, p, *used, e);
        }
    }

    if (*p != m->delimiter[m->matched]) {
        had = m->matched;
        m->matched = 0;
        *used = 0;

        return multipart_piece(m, m->delimiter, had, e);
    }

    *used = 1;

    return ++m->matched == m->delimiter_len ? multipart_mark(m, e) : 0;
}


/* as urllib3 writes a name that is not ASCII: filename*=utf-8''%C3%A9.csv */

static int
multipart_extended(const char *line, char *to, size_t size)
{
    int   rc;
    char  text[BOUND_FILE_HEAD + 1];

    rc = multipart_parameter(line, "filename*", text, sizeof(text));

    if (rc != 1) {
        return rc;
    }

    if (strncasecmp(text, "utf-8''", 7) != 0) {
        return -1;
    }

    return file_decode(text + 7, strlen(text + 7), '%', to, size);
}


/* "C:\x\a.csv", "/mnt/data/a.csv": the name is what stands last */

static void
multipart_base(char *name)
{
    char  *p, *last;

    last = name;

    for (p = name; *p != '\0'; p++) {
        if (*p == '/' || *p == '\\') {
            last = p + 1;
        }
    }

    (void) memmove(name, last, strlen(last) + 1);
}


static int
multipart_disposition(multipart_t *m, const char *line, err_t *e)
{
    multipart_part_t  *part;

    part = &m->part;

    if (strncasecmp(line, "form-data", 9) != 0
        || strchr("; \t", line[9]) == NULL)
    {
        return multipart_bad(e, "a part is no form-data");
    }

    if (multipart_parameter(line, "name", part->name, sizeof(part->name)) != 1)
    {
        return multipart_bad(e, "a part has no usable name");
    }

    part->is_file = multipart_parameter(line, "filename", part->file,
                                        sizeof(part->file));

    if (part->is_file == -1
        || (part->file[0] == '\0'
            && multipart_extended(line, part->file, sizeof(part->file)) == -1))
    {
        return multipart_bad(e, "a file has no usable name");
    }

    part->is_file |= (part->file[0] != '\0');

    memcpy(part->path, part->file, sizeof(part->path));
    multipart_base(part->file);

    return 0;
}


/* its parameters are left out; one that is too long is none */

static void
multipart_type(multipart_t *m, const char *p)
{
    size_t  n;

    n = strcspn(p, "; \t");

    if (n < sizeof(m->part.type)) {
        memcpy(m->part.type, p, n);
        m->part.type[n] = '\0';
    }
}


/* one line above a part; "head" holds it, with its NUL */

static int
multipart_line(multipart_t *m, char *line, err_t *e)
{
    static const char  key[] = "content-disposition:";
    static const char  type[] = "content-type:";

    if (strncasecmp(line, type, sizeof(type) - 1) == 0) {
        multipart_type(m, multipart_skip(line + sizeof(type) - 1));
        return 0;
    }

    if (strncasecmp(line, key, sizeof(key) - 1) != 0) {
        return 0;
    }

    if (m->part.name[0] != '\0') {
        return multipart_bad(e, "a part says twice what it is");
    }

    return multipart_disposition(m, multipart_skip(line + sizeof(key) - 1), e);
}


static int
multipart_lines(multipart_t *m, err_t *e)
{
    char  *p, *end;

    (void) memset(&m->part, 0, sizeof(m->part));

    for (p = m->head; *p != '\0'; p = end + 2) {
        end = strstr(p, "\r\n");

        if (end == NULL) {
            return multipart_bad(e, "a part's head is malformed");
        }

        *end = '\0';

        if (multipart_line(m, p, e) == -1) {
            return -1;
        }
    }

    if (m->part.name[0] == '\0') {
        return multipart_bad(e, "a part does not say what it is");
    }

    m->state = MULTIPART_CONTENT;
    m->matched = 0;

    return m->begin(m->data, &m->part, e);
}


static int
multipart_head(multipart_t *m, char c, err_t *e)
{
    if (c == '\0' || m->head_len >= BOUND_FILE_HEAD) {
        return multipart_bad(e, "the lines above a part are too long");
    }

    m->head[m->head_len++] = c;

    if (m->head_len < 4
        || memcmp(m->head + m->head_len - 4, "\r\n\r\n", 4) != 0)
    {
        return 0;
    }

    /* the empty line is not one of them */
    m->head[m->head_len - 2] = '\0';
    m->head_len = 0;

    return multipart_lines(m, e);
}


static int
multipart_byte(multipart_t *m, char c, err_t *e)
{
    switch (m->state) {

    case MULTIPART_MARK:
        if (c == ' ' || c == '\t') {
            return 0;
        }

        if (c == '-') {
            m->state = MULTIPART_DASH;
            return 0;
        }

        if (c == '\r') {
            m->state = MULTIPART_LF;
            return 0;
        }

        return multipart_bad(e, "a delimiter is malformed");

    case MULTIPART_DASH:
        m->state = MULTIPART_OVER;
        return c == '-' ? 0 : multipart_bad(e, "a delimiter is malformed");

    case MULTIPART_LF:
        m->state = MULTIPART_HEAD;
        return c == '\n' ? 0 : multipart_bad(e, "a delimiter is malformed");

    case MULTIPART_HEAD:
        return multipart_head(m, c, e);

    default:
        /* what follows the end means nothing */
        return 0;
    }
}


int
multipart_feed(multipart_t *m, const char *p, size_t n, err_t *e)
{
    int     rc;
    size_t  used;

    for (rc = 0; rc == 0 && n != 0; p += used, n -= used) {
        used = 1;

        if (m->state == MULTIPART_BEFORE || m->state == MULTIPART_CONTENT) {
            rc = multipart_content(m, p, n, &used, e);

        } else {
            rc = multipart_byte(m, *p, e);
        }
    }

    return rc;
}


int
multipart_done(const multipart_t *m, err_t *e)
{
    return m->state == MULTIPART_OVER
           ? 0 : multipart_bad(e, "the body ends before its last delimiter");
}
