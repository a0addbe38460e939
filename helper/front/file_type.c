
/*
 * In retort-front, as its own uid without any capability.  Names come from a
 * client or a sandbox; nothing of them gets into a header line unencoded.
 */

#include <string.h>
#include <strings.h>

#include "file_type.h"


typedef struct {
    const char  *ext;
    const char  *type;
} file_type_t;


/* nothing that a browser would run: no HTML, no SVG, no XML, no script */

static const file_type_t  file_types[] = {
    { ".txt", "text/plain; charset=utf-8" },
    { ".log", "text/plain; charset=utf-8" },
    { ".py", "text/plain; charset=utf-8" },
    { ".md", "text/markdown; charset=utf-8" },
    { ".csv", "text/csv; charset=utf-8" },
    { ".tsv", "text/tab-separated-values; charset=utf-8" },
    { ".json", "application/json" },
    { ".png", "image/png" },
    { ".jpg", "image/jpeg" },
    { ".jpeg", "image/jpeg" },
    { ".gif", "image/gif" },
    { ".webp", "image/webp" },
    { ".pdf", "application/pdf" },
    { ".zip", "application/zip" },
    { ".gz", "application/gzip" },
    { ".wav", "audio/wav" },
    { ".mp3", "audio/mpeg" },
    { ".mp4", "video/mp4" },
    { ".parquet", "application/vnd.apache.parquet" },
    { ".xlsx", "application/"
      "vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
    { ".docx", "application/"
      "vnd.openxmlformats-officedocument.wordprocessingml.document" },
    { ".pptx", "application/"
      "vnd.openxmlformats-officedocument.presentationml.presentation" }
};


const char *
file_base(const char *name)
{
    const char  *slash;

    slash = strrchr(name, '/');

    return slash != NULL ? slash + 1 : name;
}


const char *
file_type(const char *name)
{
    size_t       i;
    const char  *dot;

    dot = strrchr(file_base(name), '.');

    for (i = 0; dot != NULL && i < sizeof(file_types) / sizeof(file_types[0]);
         i++)
    {
        if (strcasecmp(dot, file_types[i].ext) == 0) {
            return file_types[i].type;
        }
    }

    return "application/octet-stream";
}


const char *
file_extension(const char *type)
{
    size_t  i, n;

    n = strlen(type);

    for (i = 0; i < sizeof(file_types) / sizeof(file_types[0]); i++) {
        if (strncasecmp(file_types[i].type, type, n) == 0
            && strchr(";", file_types[i].type[n]) != NULL)
        {
            return file_types[i].ext;
        }
    }

    return NULL;
}


/* letters, digits and what is harmless in header lines, paths and links */

static int
file_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}


static void
file_encode(buf_t *to, const char *name, char keep)
{
    for ( /* void */ ; *name != '\0'; name++) {
        if (file_plain(*name) || *name == keep) {
            (void) buf_add(to, name, 1);

        } else {
            (void) buf_printf(to, "%%%02X", (unsigned char) *name);
        }
    }
}


void
file_url(buf_t *to, const char *name)
{
    file_encode(to, name, '/');
}


void
file_disposition(buf_t *to, const char *name)
{
    const char  *p;

    name = file_base(name);
    (void) buf_puts(to, "Content-Disposition: attachment; filename=\"");

    for (p = name; *p != '\0'; p++) {
        (void) buf_add(to, file_plain(*p) || *p == ' ' ? p : "_", 1);
    }

    (void) buf_puts(to, "\"; filename*=UTF-8''");
    file_encode(to, name, '.');
    (void) buf_puts(to, "\r\n");
}


static int
file_hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}


int
file_decode(const char *p, size_t n, char space, char *to, size_t size)
{
    int     high, low;
    size_t  i, len;

    len = 0;

    for (i = 0; i < n; i++) {
        if (len + 1 >= size) {
            return -1;
        }

        if (p[i] != '%') {
            to[len++] = p[i] == space ? ' ' : p[i];
            continue;
        }

        high = i + 2 < n ? file_hex(p[i + 1]) : -1;
        low = i + 2 < n ? file_hex(p[i + 2]) : -1;

        if (high == -1 || low == -1 || (high == 0 && low == 0)) {
            return -1;
        }

        to[len++] = (char) (high * 16 + low);
        i += 2;
    }

    to[len] = '\0';

    return 0;
}


int
file_query(const char *query, const char *key, char *to, size_t size)
{
    size_t       n;
    const char  *p;

    n = strlen(key);
    to[0] = '\0';

    for (p = query; *p != '\0'; p += strcspn(p, "&"), p += *p == '&') {
        if (strncmp(p, key, n) == 0 && p[n] == '=') {
            p += n + 1;
            return file_decode(p, strcspn(p, "&"), '+', to, size);
        }
    }

    return 0;
}
