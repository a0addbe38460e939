
/*
 * The module _retort: what the kernel's Python code, and a tenant just as
 * well, can ask this process for.  Nothing here gives a right that writing to
 * the channel by hand would not give; sizes are bounded so that an honest
 * program with huge values gets a short message instead of a dead session.
 */

#include "retort.h"

#include <string.h>


typedef struct {
    PyObject     *forms;        /* a list of (MIME type, bytes) */
    Py_ssize_t   n;
    wire_part_t  part[KERN_FORMS_MAX][2];
} api_display_t;


static int
api_form(PyObject *item, wire_part_t *part)
{
    char        *bytes;
    const char  *name;
    Py_ssize_t  len;

    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 2) {
        PyErr_SetString(PyExc_TypeError, "a form is (type, bytes)");
        return -1;
    }

    name = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(item, 0), &len);

    if (name == NULL) {
        return -1;
    }

    part[0].data = name;
    part[0].len = (size_t) len;

    if (PyBytes_AsStringAndSize(PyTuple_GET_ITEM(item, 1), &bytes, &len) == -1)
    {
        return -1;
    }

    part[1].data = bytes;
    part[1].len = (size_t) len;

    if (part[0].len > 255 || part[1].len > UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "a form that is too large");
        return -1;
    }

    return 0;
}


static void
api_display_send(int kind, const api_display_t *display)
{
    Py_ssize_t  i;

    wire_lock();

    if (wire_running()) {
        out_flush_locked();
        wire_sync();
        wire_send(KRN_DISPLAY, (uint32_t) kind, (uint32_t) display->n, NULL, 0);

        for (i = 0; i < display->n; i++) {
            wire_send(KRN_MIME, 0, 0, display->part[i], 2);
        }
    }

    wire_unlock();
}


/* display(kind, [(type, bytes), ...]) */

static PyObject *
api_display(PyObject *self, PyObject *args)
{
    int            kind;
    Py_ssize_t     i;
    api_display_t  display;

    (void) self;

    if (!PyArg_ParseTuple(args, "iO!", &kind, &PyList_Type, &display.forms)) {
        return NULL;
    }

    display.n = PyList_GET_SIZE(display.forms);

    if (display.n > KERN_FORMS_MAX) {
        display.n = KERN_FORMS_MAX;
    }

    for (i = 0; i < display.n; i++) {
        if (api_form(PyList_GET_ITEM(display.forms, i), display.part[i]) == -1)
        {
            return NULL;
        }
    }

    if (display.n != 0) {
        Py_INCREF(display.forms);
        api_display_send(kind == KRN_RESULT ? KRN_RESULT : KRN_SHOW, &display);
        Py_DECREF(display.forms);
    }

    Py_RETURN_NONE;
}


/* a name: cuts at a character's border */

static size_t
api_bound(const char *text, size_t len)
{
    if (len <= KERN_TEXT_MAX) {
        return len;
    }

    for (len = KERN_TEXT_MAX; len > 0; len--) {
        if (((unsigned char) text[len] & 0xc0) != 0x80) {
            break;
        }
    }

    return len;
}


/*
 * error(name, message, short text, traceback, cut, cut): the texts as UTF-8
 * bytes, and how many were cut out of the second and third
 */

static PyObject *
api_error(PyObject *self, PyObject *args)
{
    int           i;
    unsigned      cut[2];
    Py_ssize_t    len[4];
    const char   *text[4];
    wire_part_t   part[4];

    (void) self;

    if (!PyArg_ParseTuple(args, "y#y#y#y#II", &text[0], &len[0], &text[1],
                          &len[1], &text[2], &len[2], &text[3], &len[3],
                          &cut[0], &cut[1]))
    {
        return NULL;
    }

    for (i = 0; i < 4; i++) {
        part[i].data = text[i];
        part[i].len = i == 3 ? (size_t) len[i]
                             : api_bound(text[i], (size_t) len[i]);
    }

    if (part[3].len > UINT32_MAX) {
        part[3].len = UINT32_MAX;
    }

    if (wire_forked()) {
        out_write(2, text[3], part[3].len);
        Py_RETURN_NONE;
    }

    wire_lock();

    if (wire_running()) {
        out_flush_locked();
        wire_sync();
        wire_send(KRN_ERROR, cut[0], cut[1], part, 4);
    }

    wire_unlock();
    Py_RETURN_NONE;
}


/* the builtin input(), in C so that it leaves no line in a traceback */

static PyObject *
api_input(PyObject *self, PyObject *args)
{
    PyObject  *prompt, *in, *out, *text;

    (void) self;
    prompt = NULL;

    if (!PyArg_ParseTuple(args, "|O:input", &prompt)) {
        return NULL;
    }

    in = PySys_GetObject("stdin");
    out = PySys_GetObject("stdout");

    if (in == NULL || out == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "input(): lost sys.stdin");
        return NULL;
    }

    if (prompt != NULL && PyFile_WriteObject(prompt, out, Py_PRINT_RAW) == -1) {
        return NULL;
    }

    text = PyObject_CallMethod(out, "flush", NULL);

    if (text == NULL) {
        return NULL;
    }

    Py_DECREF(text);
    text = PyFile_GetLine(in, -1);

    if (text == NULL && PyErr_ExceptionMatches(PyExc_EOFError)) {
        PyErr_SetString(PyExc_EOFError, "input() has nothing to read: "
                        "this run's standard input is empty or used up");
    }

    return text;
}


static PyObject *
api_flush(PyObject *self, PyObject *unused)
{
    (void) self;
    (void) unused;
    out_flush();
    Py_RETURN_NONE;
}


/* blas(threads) */

static PyObject *
api_blas(PyObject *self, PyObject *args)
{
    int  n;

    (void) self;

    if (!PyArg_ParseTuple(args, "i", &n)) {
        return NULL;
    }

    if (n > 0) {
        interp_blas(n);
    }

    Py_RETURN_NONE;
}


/* expect_plot() */

static PyObject *
api_expect_plot(PyObject *self, PyObject *args)
{
    (void) self;
    (void) args;

    hot_copy(HOT_PLOT);

    Py_RETURN_NONE;
}


static PyMethodDef  api_methods[] = {
    { "display", api_display, METH_VARARGS, NULL },
    { "error", api_error, METH_VARARGS, NULL },
    { "input", api_input, METH_VARARGS,
      "Read a line of the run's standard input." },
    { "blas", api_blas, METH_VARARGS, NULL },
    { "expect_plot", api_expect_plot, METH_NOARGS, NULL },
    { "flush", api_flush, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL }
};

static struct PyModuleDef  api_module = {
    PyModuleDef_HEAD_INIT, "_retort", NULL, -1, api_methods,
    NULL, NULL, NULL, NULL
};


PyObject *
api_init(void)
{
    PyObject  *module, *type;

    module = PyModule_Create(&api_module);
    type = out_type();

    if (module == NULL || type == NULL
        || PyModule_AddObject(module, "Out", type) == -1)
    {
        Py_XDECREF(module);
        Py_XDECREF(type);
        return NULL;
    }

    return module;
}
