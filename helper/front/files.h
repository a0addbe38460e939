
/*
 * The files of a session, over HTTP: lists, downloads, uploads.
 */

#ifndef FRONT_FILES_H
#define FRONT_FILES_H

#include "answer.h"
#include "box.h"
#include "job.h"
#include "request.h"


struct routes_body_s;


typedef struct {
    char       *name;           /* relative to /workspace, checked */
    uint64_t    size;
    uint64_t    modified;       /* wall msec, 0 if that is not told */
    int         folder;
    int         replaced;
    char        sha256[65];     /* "" if that is not told */
} file_info_t;

typedef struct {
    file_info_t  *file;
    size_t        n;
    int           truncated;    /* there is more */
} file_infos_t;


/* what is asked, about which sandbox */

typedef struct {
    const request_t        *req;
    const char             *sandbox;
    const char             *session;    /* its name instead, if not "" */
    const char             *name;   /* behind "files/"; NULL: there is none */
    const char             *folder; /* NULL: "path" of the query */
    int                     below;  /* lists what is in its folders, too */

    /* how a file of a form is called, by what its part says; or NULL */
    int                   (*named)(const request_t *req, const char *file,
                                   char *name, size_t size, err_t *e);
    struct routes_body_s   *body;
    answer_t               *a;
} files_ask_t;


/* each 0 and something to tell, or -1 and "e"; the caller frees the list */

int files_list(const files_ask_t *ask, file_infos_t *list, err_t *e);
int files_put(const files_ask_t *ask, file_info_t *file, err_t *e);
int files_post(const files_ask_t *ask, file_infos_t *list, err_t *e);
int files_delete(const files_ask_t *ask, err_t *e);

/* what a file is, without its bytes; the caller frees its name */

int files_show(const files_ask_t *ask, file_info_t *file, err_t *e);

/* all of one that has at most "max" bytes, appended */

int files_read(const files_ask_t *ask, uint64_t max, buf_t *to, err_t *e);

/* GET and HEAD: 0 and an answer that is sent, or can be; or -1 and "e" */

int files_get(const files_ask_t *ask, err_t *e);

void files_free(file_infos_t *list);

/*
 * The bytes of those that have an id or a URL.  With "lenient" those whose URL
 * cannot be fetched are taken out of the list.  0, or -1 and "e".
 */

int files_load(const request_t *req, int client, job_file_t *files, size_t *n,
    int lenient, err_t *e);

/*
 * files_fetch.c, for files_load(): those with a URL, "left" bytes at most
 * together.  -1 and "e" at the first that fails, or with "lenient" at the end;
 * those that failed have no data.
 */

int files_fetch(const request_t *req, int client, job_file_t *files, size_t n,
    uint64_t left, int lenient, err_t *e);

/* writes them into a box that this thread owns; 0, or -1 and "e" */

int files_fill(box_t *box, const job_file_t *files, size_t n, int client,
    err_t *e);


/* inside of files.c and files_in.c */

/* the name behind "files/", checked; NULL and "e" */

const char *files_name(const files_ask_t *ask, err_t *e);

/* the folder that is meant, no slash at its end; "" is /workspace itself */

int files_folder(const files_ask_t *ask, char *path, size_t size, err_t *e);

/* one more, with a copy of the name; NULL and "e" if memory runs out */

file_info_t *files_add(file_infos_t *list, const char *name, err_t *e);


#endif /* FRONT_FILES_H */
