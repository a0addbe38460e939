
/*
 * Front and kernel: packets over one SOCK_SEQPACKET socket per sandbox.
 *
 * Packets keep their borders, so a front that dies in the middle of a message
 * leaves nothing half-read behind: its successor sends KRN_RESET and drops
 * everything until that is echoed.
 *
 * The kernel's side runs tenant code: whatever comes from it is hostile and
 * may be forged by the code that runs.  It can therefore only say what its
 * own run looked like, never anything about the host, and each field is
 * bounded by the receiver.
 *
 * A message is a head packet and, if its body does not fit, KRN_MORE packets.
 * The body is the concatenation of up to four parts, whose lengths are in the
 * head.  Numbers are in host order: both ends are on one machine.
 */

#ifndef RETORT_KERNEL_H
#define RETORT_KERNEL_H

#include <assert.h>
#include <stdint.h>


#define KRN_VERSION   1
#define KRN_PAYLOAD   32768     /* body bytes in one packet, at most */
#define KRN_PARTS     4

/* the kernel finds its channel here; 1 and 2 are pipes that the front reads */
#define KRN_FD        3


typedef enum {
    /* front to kernel */

    KRN_RUN = 2,        /* code | env, "K=V" each ended by NUL | stdin
                           | krn_want_t, or nothing;
                           a = krn_language_t, b = krn_style_t, and perhaps
                           KRN_SNAPSHOT */
    KRN_FILE = 4,       /* name, relative to /workspace | content */
    KRN_ACK = 6,        /* answers KRN_SYNC, echoing its run */
    KRN_RESET = 8,      /* echoed by the kernel as soon as it is idle;
                           a = runs that ended and are undone, until the
                           next but one is asked for */

    /* the same, about files: between two runs, one at a time */

    KRN_PUT = 20,       /* name; its content follows as KRN_DATA */
    KRN_DATA = 22,      /* content, one packet; a = krn_data_t */
    KRN_GET = 24,       /* name; a = 1: only what it is, or a folder */
    KRN_LIST = 26,      /* folder, "" for /workspace; a = most entries,
                           b = 1: with what is in the folders below */
    KRN_DELETE = 28,    /* name; b = 1: a folder, with what is in it */

    /* kernel to front */

    KRN_READY = 101,    /* the interpreter waits; sent once */
    KRN_OUT = 103,      /* text; a = 1 stdout, 2 stderr */
    KRN_SYNC = 105,     /* "read both pipes dry, then say KRN_ACK" */
    KRN_DISPLAY = 107,  /* begins a display; a = krn_display_t, b = its forms */
    KRN_MIME = 109,     /* one form of it: MIME type | bytes; or a file that
                           the run left: nothing | bytes | name */
    KRN_ERROR = 111,    /* name | message | short text | traceback; a, b =
                           bytes cut out of message and short text */
    KRN_DONE = 113,     /* run over; a = krn_done_t, b = exit code (bash);
                           uint64_t, bytes that it wrote */
    KRN_FILED = 115,    /* ends what is asked about files, once; a = errno;
                           b = 1: a file was replaced, a list is not whole */
    KRN_ENTRY = 117,    /* name | krn_entry_t */
    KRN_BYTES = 119,    /* content, one packet */
    KRN_CHANGE = 121,   /* name | krn_changed_t: what a run did to a file;
                           a = krn_change_t */

    /* both ways */

    KRN_MORE = 120      /* the next bytes of the body begun before */
} krn_type_t;


/*
 * No run's number has this bit.  A SIGINT for this and the number of a
 * KRN_RESET is for any run but those that came after that: a front that finds a
 * kernel does not know what runs there, and is not to meet its own runs.
 */

#define KRN_OTHERS    0x80000000U

typedef enum { KRN_PYTHON = 0, KRN_BASH = 1 } krn_language_t;

/* whose habits Python has, from the first cell of that style on */

typedef enum {
    KRN_NATIVE = 0,
    KRN_QWEN = 1,
    KRN_QWEN_TIMED = 2          /* the code begins with its countdown */
} krn_style_t;

/* KRN_ABORT also ends a KRN_GET; if it comes too late it means nothing */

typedef enum { KRN_SOME = 0, KRN_LAST = 1, KRN_ABORT = 2 } krn_data_t;

typedef enum { KRN_IS_FILE = 1, KRN_IS_FOLDER = 2, KRN_IS_OTHER = 3 } krn_is_t;

/*
 * Beside the style: a frozen copy of the kernel stands by, that takes over
 * with what was there before the run if the run kills the kernel.  What takes
 * over says nothing and hears nothing until KRN_RESET.
 */

#define KRN_SNAPSHOT  0x100

/*
 * Above it: which of its namespaces the run is in, with a working folder of
 * its own.  Each is made when its number first comes, and again if it is to be
 * fresh; 0 is the one that is always there.
 */

#define KRN_FRESH     0x200
#define KRN_CONTEXT   16        /* bits that the number is shifted by */
#define KRN_CONTEXTS  65535     /* the greatest number */


typedef enum { KRN_SHOW = 0, KRN_RESULT = 1 } krn_display_t;

typedef enum { KRN_DONE_OK = 0, KRN_DONE_ERROR = 1 } krn_done_t;


typedef struct {
    uint8_t   version;          /* KRN_VERSION */
    uint8_t   type;             /* krn_type_t */
    uint16_t  len;              /* body bytes in this packet */
    uint32_t  run;              /* number that the front gave in KRN_RUN */
    uint32_t  a;
    uint32_t  b;
    uint32_t  part[KRN_PARTS];  /* lengths; their sum is the body's length */
} krn_head_t;

typedef enum {
    KRN_MORE_CHANGES = 0,       /* that are not told; no name */
    KRN_CREATED = 1,
    KRN_CHANGED = 2,
    KRN_DELETED = 3,
    KRN_UNSHOWN = 4             /* a file in OUTPUT_DIR that is too much */
} krn_change_t;

/* files that a run leaves and that are shown like displays */

#define KRN_WANT_ALL      1     /* any in /workspace, not just pictures */
#define KRN_WANT_OUTPUTS  2     /* none but those in OUTPUT_DIR */
#define KRN_WANT_STAY     4     /* a bash cell's last folder is its own */

typedef struct {
    uint64_t  bytes;            /* of one file, at most */
    uint32_t  files;            /* that many */
    uint32_t  flags;
} krn_want_t;

typedef struct {
    uint64_t  size;
    uint32_t  hashed;           /* not 0: sha is its SHA-256 */
    uint32_t  reserved;
    uint8_t   sha[32];
} krn_changed_t;

typedef struct {
    uint64_t  size;             /* of a file, else 0 */
    uint64_t  modified;         /* msec since 1970 */
    uint32_t  is;               /* krn_is_t */
    uint32_t  reserved;
} krn_entry_t;

static_assert(sizeof(krn_head_t) == 32, "head: no padding");
static_assert(sizeof(krn_entry_t) == 24, "entry: no padding");
static_assert(sizeof(krn_want_t) == 16, "want: no padding");
static_assert(sizeof(krn_changed_t) == 48, "changed: no padding");
static_assert(KRN_PAYLOAD <= UINT16_MAX, "len holds every payload");


#endif /* RETORT_KERNEL_H */
