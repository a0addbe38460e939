
/*
 * What tenant code writes through sys.stdout and sys.stderr: raw bytes from a
 * TextIOWrapper, gathered into packets.  Runs in the kernel process.
 *
 * Bytes leave at the end of a line, at flush() and at the end of the run.  At
 * most one packet of each stream is held in memory.  While no run is under
 * way, what threads left behind write waits for the next run; what does not
 * fit is dropped.
 */

#include "retort.h"

#include <errno.h>
#include <string.h>
#include <structmember.h>
#include <unistd.h>


#define OUT_BLOCK  32


typedef struct {
    size_t  len;
    char    data[KRN_PAYLOAD];
} out_buf_t;

typedef struct {
    PyObject_HEAD
    int  which;
} out_object_t;


static char       out_text[KRN_PAYLOAD];        /* under the lock */
static out_buf_t  out_bufs[2];


/* length of the UTF-8 sequence at "p"; 0: invalid, -1: cut off by "end" */

static int
out_sequence(const unsigned char *p, const unsigned char *end)
{
    int  i, n;

    n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3
        : *p < 0xf5 ? 4 : 0;

    for (i = 1; i < n; i++) {
        if (p + i == end) {
            return -1;
        }

        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }

    if (n >= 3 && ((p[0] == 0xe0 && p[1] < 0xa0)
                   || (p[0] == 0xed && p[1] > 0x9f)
                   || (p[0] == 0xf0 && p[1] < 0x90)
                   || (p[0] == 0xf4 && p[1] > 0x8f)))
    {
        return 0;
    }

    return n;
}


static int
out_ascii(const unsigned char *p)
{
    int            i;
    unsigned char  high;

    high = 0;

    for (i = 0; i < OUT_BLOCK; i++) {
        high |= p[i];
    }

    return high < 0x80;
}


/* how many bytes are whole characters; ASCII goes by blocks */

static size_t
out_valid(const char *text, size_t len)
{
    int                  n;
    size_t               i;
    const unsigned char  *p, *end;

    p = (const unsigned char *) text;
    end = p + len;

    while (p < end) {
        if (end - p >= OUT_BLOCK && out_ascii(p)) {
            p += OUT_BLOCK;
            continue;
        }

        for (i = 0; i < OUT_BLOCK && p < end; i += (size_t) n, p += n) {
            n = out_sequence(p, end);

            if (n <= 0) {
                return len - (size_t) (end - p);
            }
        }
    }

    return len;
}


/*
 * Copies valid text, U+FFFD for each invalid byte, until "to" (KRN_PAYLOAD)
 * is full.  Returns how many bytes of the source are done with: a character
 * cut off at the end is left.
 */

static size_t
out_clean(const char *from, size_t len, char *to, size_t *written)
{
    int                  n;
    const unsigned char  *p, *end;

    p = (const unsigned char *) from;
    end = p + len;
    *written = 0;

    while (p < end && *written <= KRN_PAYLOAD - 4) {
        n = out_sequence(p, end);

        if (n == -1) {
            break;
        }

        if (n == 0) {
            memcpy(to + *written, "\xef\xbf\xbd", 3);
            *written += 3;
            p++;
            continue;
        }

        memcpy(to + *written, p, (size_t) n);
        *written += (size_t) n;
        p += n;
    }

    return (size_t) (p - (const unsigned char *) from);
}


/* a fork of the tenant's writes to the pipes, as C code does */

static void
out_direct(int which, out_buf_t *buf)
{
    size_t   done;
    ssize_t  n;

    for (done = 0; done < buf->len; done += (size_t) n) {
        n = write(which, buf->data + done, buf->len - done);

        if (n == -1 && errno == EINTR) {
            n = 0;

        } else if (n <= 0) {
            break;
        }
    }

    buf->len = 0;
}


static void
out_packet(int which, const char *text, size_t len)
{
    wire_part_t  part;

    if (len != 0) {
        wire_sync();
        part.data = text;
        part.len = len;
        wire_send(KRN_OUT, (uint32_t) which, 0, &part, 1);
    }
}


/* as they are, or with U+FFFD for what is invalid; returns how many are said */

static size_t
out_say(int which, const char *data, size_t len)
{
    size_t  n, done, used;

    done = out_valid(data, len);
    out_packet(which, data, done);

    do {
        used = out_clean(data + done, len - done, out_text, &n);
        done += used;
        out_packet(which, out_text, n);
    } while (used != 0);

    return done;
}


/* "last": nothing will follow, so a character cut off is invalid */

static void
out_emit(int which, int last)
{
    size_t     done;
    out_buf_t  *buf;

    buf = &out_bufs[which - 1];

    if (wire_forked()) {
        out_direct(which, buf);
        return;
    }

    done = out_say(which, buf->data, buf->len);

    if (last && done < buf->len) {
        out_packet(which, "\xef\xbf\xbd", 3);
        done = buf->len;
    }

    buf->len -= done;
    memmove(buf->data, buf->data + done, buf->len);
}


/* what fills a packet by itself needs no other place; bytes done with */

static size_t
out_large(int which, const char *data, size_t len)
{
    if (len < KRN_PAYLOAD || out_bufs[which - 1].len != 0 || !wire_running()
        || wire_forked())
    {
        return 0;
    }

    return out_say(which, data, KRN_PAYLOAD);
}


static size_t
out_keep(out_buf_t *buf, const char *data, size_t len)
{
    size_t  n;

    n = KRN_PAYLOAD - buf->len;
    n = n < len ? n : len;
    memcpy(buf->data + buf->len, data, n);
    buf->len += n;

    return n;
}


void
out_write(int which, const char *data, size_t len)
{
    size_t     n;
    out_buf_t  *buf, *other;

    wire_lock();
    buf = &out_bufs[which - 1];
    other = &out_bufs[2 - which];

    if (other->len != 0 && (wire_running() || wire_forked())) {
        out_emit(3 - which, 0);
    }

    for ( /* void */ ; len != 0; data += n, len -= n) {
        n = out_large(which, data, len);

        if (n != 0) {
            continue;
        }

        n = out_keep(buf, data, len);

        if (!wire_running() && !wire_forked()) {
            break;
        }

        if (buf->len == KRN_PAYLOAD || (len == n && data[n - 1] == '\n')) {
            out_emit(which, 0);
        }
    }

    wire_unlock();
}


void
out_flush_locked(void)
{
    out_emit(1, 1);
    out_emit(2, 1);
}


void
out_flush(void)
{
    wire_lock();

    if (wire_running() || wire_forked()) {
        out_emit(1, 0);
        out_emit(2, 0);
    }

    wire_unlock();
}


void
out_dump(void)
{
    out_direct(1, &out_bufs[0]);
    out_direct(2, &out_bufs[1]);
}


void
out_forget(void)
{
    out_bufs[0].len = 0;
    out_bufs[1].len = 0;
}


/* the Python type: what TextIOWrapper and users of ".buffer" ask for */

static PyObject *
out_py_write(PyObject *self, PyObject *arg)
{
    Py_ssize_t  n;
    Py_buffer   view;

    if (PyObject_GetBuffer(arg, &view, PyBUF_SIMPLE) == -1) {
        return NULL;
    }

    n = view.len;
    out_write(((out_object_t *) self)->which, view.buf, (size_t) n);
    PyBuffer_Release(&view);

    return PyLong_FromSsize_t(n);
}


static PyObject *
out_py_flush(PyObject *self, PyObject *unused)
{
    (void) self;
    (void) unused;
    out_flush();
    Py_RETURN_NONE;
}


static PyObject *
out_py_fileno(PyObject *self, PyObject *unused)
{
    (void) unused;

    return PyLong_FromLong(((out_object_t *) self)->which);
}


static PyObject *
out_py_true(PyObject *self, PyObject *unused)
{
    (void) self;
    (void) unused;
    Py_RETURN_TRUE;
}


static PyObject *
out_py_false(PyObject *self, PyObject *unused)
{
    (void) self;
    (void) unused;
    Py_RETURN_FALSE;
}


static PyObject *
out_py_closed(PyObject *self, void *unused)
{
    (void) self;
    (void) unused;
    Py_RETURN_FALSE;
}


static PyObject *
out_py_raw(PyObject *self, void *unused)
{
    (void) unused;

    return Py_NewRef(self);
}


static PyObject *
out_py_name(PyObject *self, void *unused)
{
    (void) unused;

    return PyUnicode_FromString(((out_object_t *) self)->which == 1
                                ? "<stdout>" : "<stderr>");
}


static PyObject *
out_py_mode(PyObject *self, void *unused)
{
    (void) self;
    (void) unused;

    return PyUnicode_FromString("wb");
}


static PyMethodDef  out_methods[] = {
    { "write", out_py_write, METH_O, NULL },
    { "flush", out_py_flush, METH_NOARGS, NULL },
    { "close", out_py_flush, METH_NOARGS, NULL },
    { "fileno", out_py_fileno, METH_NOARGS, NULL },
    { "isatty", out_py_false, METH_NOARGS, NULL },
    { "readable", out_py_false, METH_NOARGS, NULL },
    { "seekable", out_py_false, METH_NOARGS, NULL },
    { "writable", out_py_true, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL }
};

static PyGetSetDef  out_getset[] = {
    { "closed", out_py_closed, NULL, NULL, NULL },
    { "raw", out_py_raw, NULL, NULL, NULL },
    { "name", out_py_name, NULL, NULL, NULL },
    { "mode", out_py_mode, NULL, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL }
};


static int
out_py_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
    int  which;

    (void) kwargs;

    if (!PyArg_ParseTuple(args, "i", &which)) {
        return -1;
    }

    if (which != 1 && which != 2) {
        PyErr_SetString(PyExc_ValueError, "1 or 2");
        return -1;
    }

    ((out_object_t *) self)->which = which;

    return 0;
}


PyObject *
out_type(void)
{
    static PyType_Slot  slots[] = {
        { Py_tp_methods, out_methods },
        { Py_tp_getset, out_getset },
        { Py_tp_init, out_py_init },
        { 0, NULL }
    };

    static PyType_Spec  spec = {
        .name = "_retort.Out",
        .basicsize = sizeof(out_object_t),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots,
    };

    return PyType_FromSpec(&spec);
}
