
/*
 * What is in /workspace: a tree that is walked, and walked again to see what
 * became of it.
 */

#ifndef RETORT_KERNEL_TREE_H
#define RETORT_KERNEL_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>


#define TREE_DEPTH    16        /* as deep as a client's names can be */
#define TREE_PATH     1024      /* bytes of a path below the top */
#define TREE_ENTRIES  20000     /* that are looked at */
#define TREE_SHA      32


typedef struct tree_node_s  tree_node_t;

struct tree_node_s {
    char         *name;
    mode_t        mode;         /* 0: not looked at yet */
    ino_t         ino;
    uint64_t      size;
    int64_t       changed;      /* ctime, which cannot be set back, nsec */
    int64_t       modified;     /* mtime, nsec */
    int           hashed;
    unsigned char sha[TREE_SHA];
    tree_node_t  *kids;         /* sorted by name */
    size_t        nkids;
};


typedef enum { TREE_CREATED = 1, TREE_CHANGED, TREE_DELETED } tree_change_t;

/*
 * Called for each node that is not as it was; "dir" is the folder that it is
 * in (-1 if it is deleted), "path" its name below the top.  Not 0 ends the
 * calls, not the walk.
 */

typedef int (*tree_tell_pt)(void *data, tree_change_t what, int dir,
    const char *path, tree_node_t *node);

typedef struct {
    tree_node_t   top;
    int64_t       walked;       /* when the last walk began, nsec; 0: never */
    size_t        entries;
    int           partial;      /* there was more than is in here */
    int           flat;         /* folders are not entered */
    tree_tell_pt  tell;         /* NULL: nobody */
    void         *data;

    /* of the walk that is under way */
    size_t        len;
    char          path[TREE_PATH + 1];
} tree_t;


/* the folder "fd" and what is below it; fd stays the caller's; 0 or errno */

int tree_walk(tree_t *t, int fd);

/* was it empty, and is it by all signs so still?  "st" is of its top */

int tree_idle(const tree_t *t, const struct stat *st);

void tree_free(tree_t *t);


#endif /* RETORT_KERNEL_TREE_H */
