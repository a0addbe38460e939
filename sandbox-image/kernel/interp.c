
/*
 * The interpreter: made in the template, or in a bare kernel, before there is
 * a tenant; made fit for its sandbox after the fork.
 *
 * Isolated: no user folder, no PYTHON* variable, no working folder on the
 * path until the sandbox has its own.
 */

#include "retort.h"

#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>


#define INTERP_MT_WORDS  624
#define INTERP_FONTS     "/tmp/.matplotlib"
#define INTERP_FONTLIST  "fontlist-v330.json"


/* numpy's Mersenne twister, as numpy/random/src/mt19937 lays it out */

typedef struct {
    uint32_t  key[INTERP_MT_WORDS];
    int       pos;
} interp_mt_t;


static PyObject     *interp_cell;
static interp_mt_t  *interp_numpy;


static const char *const  interp_environ[][2] = {
    { "HOME", KERN_WORKSPACE },
    { "USER", "sandbox" },
    { "LOGNAME", "sandbox" },
    { "SHELL", "/bin/bash" },
    { "PATH", "/usr/local/bin:/usr/bin:/bin" },
    { "LANG", "C.UTF-8" },
    { "TERM", "dumb" },
    { "TMPDIR", "/tmp" },
    { "OUTPUT_DIR", KERN_OUTPUTS },
    { "MPLCONFIGDIR", INTERP_FONTS },
    { "PYTHONDONTWRITEBYTECODE", "1" },
    { "OMP_NUM_THREADS", "1" },
    { "OPENBLAS_NUM_THREADS", "1" },
    { "MKL_NUM_THREADS", "1" },
    { "NUMEXPR_MAX_THREADS", "1" },
    { "NUMEXPR_NUM_THREADS", "1" }
};


static void
interp_die(const char *what, const char *detail)
{
    if (PyErr_Occurred()) {
        PyErr_Print();
    }

    out_dump();

    dprintf(2, "retort-kernel: %s%s%s\n", what, detail != NULL ? ": " : "",
            detail != NULL ? detail : "");
    _exit(KERN_EXIT_FATAL);
}


/*
 * matplotlib wants a folder that it can write, and then reads its list of
 * fonts from there: a link to the one that the image has.
 */

static void
interp_fonts(void)
{
    if (mkdir(INTERP_FONTS, 0700) == -1
        || symlink(KERN_LIBRARY "/matplotlib/" INTERP_FONTLIST,
                   INTERP_FONTS "/" INTERP_FONTLIST) == -1)
    {
        /* it is there, or matplotlib will say what it misses */
        return;
    }
}


static void
interp_config(PyConfig *config)
{
    PyStatus     status;
    PyPreConfig  pre;

    PyPreConfig_InitIsolatedConfig(&pre);
    pre.utf8_mode = 1;
    status = Py_PreInitialize(&pre);

    if (PyStatus_Exception(status)) {
        interp_die("pre-initialize", status.err_msg);
    }

    PyConfig_InitIsolatedConfig(config);
    config->install_signal_handlers = 1;
    config->write_bytecode = 0;
    config->buffered_stdio = 1;

    status = PyConfig_SetString(config, &config->program_name,
                                L"/usr/bin/python3");

    if (!PyStatus_Exception(status)) {
        status = PyConfig_SetString(config, &config->executable,
                                    L"/usr/bin/python3");
    }

    if (!PyStatus_Exception(status)) {
        status = Py_InitializeFromConfig(config);
    }

    PyConfig_Clear(config);

    if (PyStatus_Exception(status)) {
        interp_die("initialize", status.err_msg);
    }
}


/* the library's folder is on the path for as long as this import takes */

static PyObject *
interp_library(void)
{
    PyObject  *path, *dir, *module;

    path = PySys_GetObject("path");
    dir = PyUnicode_FromString(KERN_LIBRARY "/python");

    if (path == NULL || dir == NULL || PyList_Insert(path, 0, dir) == -1) {
        return NULL;
    }

    module = PyImport_ImportModule("retort_shell");
    Py_DECREF(dir);

    if (PyList_SetSlice(path, 0, 1, NULL) == -1) {
        return NULL;
    }

    return module;
}


static void
interp_import(const char *name)
{
    PyObject  *module;

    module = PyImport_ImportModule(name);

    if (module == NULL) {
        interp_die("cannot import, named by the profile", name);
    }

    Py_DECREF(module);
}


void
interp_start(char *const *imports, int n)
{
    int       i;
    size_t    k;
    PyConfig  config;
    PyObject  *module;

    for (k = 0; k < sizeof(interp_environ) / sizeof(interp_environ[0]); k++) {
        if (setenv(interp_environ[k][0], interp_environ[k][1], 1) == -1) {
            interp_die("environment", strerror(errno));
        }
    }

    (void) setlocale(LC_CTYPE, "C.UTF-8");
    (void) setvbuf(stdout, NULL, _IOLBF, 0);
    interp_fonts();

    if (PyImport_AppendInittab("_retort", api_init) == -1) {
        interp_die("no memory", NULL);
    }

    interp_config(&config);
    module = interp_library();

    if (module == NULL) {
        interp_die("cannot import", KERN_LIBRARY "/python/retort_shell.py");
    }

    interp_cell = PyObject_CallMethod(module, "Cell", NULL);
    Py_DECREF(module);

    if (interp_cell == NULL) {
        interp_die("cannot make the shell", NULL);
    }

    for (i = 0; i < n; i++) {
        interp_import(imports[i]);
    }
}


void
interp_allow(char *const *names, int n)
{
    int       i;
    PyObject  *done;

    for (i = 0; i < n; i++) {
        done = interp_shell("allow", "s", names[i]);

        if (done == NULL) {
            interp_die("allow-list", names[i]);
        }

        Py_DECREF(done);
    }
}


PyObject *
interp_shell(const char *method, const char *format, ...)
{
    va_list   args;
    PyObject  *bound, *tuple, *result, *one;

    bound = PyObject_GetAttrString(interp_cell, method);

    if (bound == NULL) {
        return NULL;
    }

    tuple = NULL;

    if (format != NULL) {
        va_start(args, format);
        tuple = Py_VaBuildValue(format, args);
        va_end(args);

        if (tuple != NULL && !PyTuple_Check(tuple)) {
            one = tuple;
            tuple = PyTuple_Pack(1, one);
            Py_DECREF(one);
        }

        if (tuple == NULL) {
            Py_DECREF(bound);
            return NULL;
        }
    }

    result = PyObject_CallObject(bound, tuple);
    Py_XDECREF(tuple);
    Py_DECREF(bound);

    return result;
}


PyObject *
interp_namespace(void)
{
    PyObject  *shell, *ns;

    shell = PyObject_GetAttrString(interp_cell, "shell");

    if (shell == NULL) {
        return NULL;
    }

    ns = PyObject_GetAttrString(shell, "user_global_ns");
    Py_DECREF(shell);

    if (ns != NULL && !PyDict_Check(ns)) {
        Py_DECREF(ns);
        PyErr_SetString(PyExc_TypeError, "the user's namespace is no dict");
        return NULL;
    }

    return ns;
}


/* where numpy keeps the state that np.random.seed() sets; found beforehand */

static void
interp_find_numpy(void)
{
    PyObject  *modules, *address;

    modules = PySys_GetObject("modules");

    if (modules == NULL
        || PyMapping_HasKeyString(modules, "numpy.random") == 0)
    {
        return;
    }

    address = interp_shell("numpy_state", NULL);

    if (address == NULL) {
        interp_die("numpy's random state", NULL);
    }

    interp_numpy = PyLong_AsVoidPtr(address);
    Py_DECREF(address);

    if (interp_numpy == NULL || interp_numpy->pos < 0
        || interp_numpy->pos > INTERP_MT_WORDS)
    {
        interp_die("numpy's random state is not where it was", NULL);
    }
}


static void
interp_place(void)
{
    PyObject  *done;

    done = interp_shell("place", NULL);

    if (done == NULL) {
        interp_die("place", NULL);
    }

    Py_DECREF(done);
}


void
interp_warm(void)
{
    PyObject  *done;

    done = interp_shell("warm", NULL);

    if (done == NULL) {
        interp_die("warm-up", NULL);
    }

    Py_DECREF(done);
    out_forget();
    interp_find_numpy();

    /*
     * What libraries do in a forked child, done once: it is half the work of
     * the next time, and what they hold open for the parent (matplotlib its
     * fonts) is let go while that can be closed in order.
     */
    PyOS_BeforeFork();
    PyOS_AfterFork_Child();
    changes_warm();
    interp_place();
    done = interp_shell("settle", NULL);

    if (done == NULL) {
        interp_die("settling", NULL);
    }

    Py_DECREF(done);
}


void
interp_limber(void)
{
    PyObject  *done;

    done = interp_shell("limber", NULL);

    if (done == NULL) {
        interp_die("limber", NULL);
    }

    Py_DECREF(done);
    out_forget();
}


void
interp_rehearse(const char *method)
{
    PyObject  *done;

    done = interp_shell(method, NULL);

    if (done == NULL) {
        interp_die("rehearsal", NULL);
    }

    Py_DECREF(done);
    out_forget();
}


static void
interp_random(void *to, size_t len)
{
    if (getrandom(to, len, 0) != (ssize_t) len) {
        interp_die("getrandom", strerror(errno));
    }
}


/* Python's own generator reseeds itself in PyOS_AfterFork_Child() */

static void
interp_reseed(void)
{
    unsigned  seed;

    interp_random(&seed, sizeof(seed));
    srand(seed);
    srandom(seed);

    if (interp_numpy != NULL) {
        /* a getrandom() of up to 256 bytes is never cut short */
        size_t  i, n;
        char    *p;

        p = (char *) interp_numpy->key;

        for (i = 0; i < sizeof(interp_numpy->key); i += n) {
            n = sizeof(interp_numpy->key) - i;
            n = n < 256 ? n : 256;
            interp_random(p + i, n);
        }

        interp_numpy->pos = INTERP_MT_WORDS;
    }
}


void
interp_blas(int cpus)
{
    void  *lib;
    void  (*set)(int);

    lib = dlopen("libopenblas.so.0", RTLD_NOLOAD|RTLD_LAZY);

    if (lib == NULL) {
        return;
    }

    *(void **) &set = dlsym(lib, "openblas_set_num_threads");

    if (set != NULL) {
        set(cpus);
    }
}


void
interp_after_fork(int forked)
{
    int         cpus;
    PyObject    *done;
    const char  *quota;

    if (forked) {
        PyOS_AfterFork_Child();
        interp_fonts();
        interp_reseed();

    } else {
        interp_place();
    }

    changes_start();
    quota = getenv("RETORT_CPUS");
    cpus = quota != NULL ? (int) strtol(quota, NULL, 10) : 0;
    done = interp_shell("start", "i", cpus > 0 ? cpus : 0);

    if (done == NULL) {
        interp_die("start", NULL);
    }

    Py_DECREF(done);
}
