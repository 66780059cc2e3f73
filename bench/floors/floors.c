/* The floors: each way of observing Python calls, doing nothing.
 *
 * bench/overhead.py compares Timeloom's instrumenters with these, since no
 * tool that uses the same hook can cost less. Built by bench/floors/build.py
 * for CPython 3.11 and later; every function needs the GIL. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* A callable of a type with its own vectorcall: the cheapest kind of callback for
 * sys.monitoring. */
typedef struct {
  PyObject_HEAD vectorcallfunc call;
} Callback;

static PyObject* callback_call(PyObject* self, PyObject* const* arguments, size_t count,
                               PyObject* names) {
  (void)self, (void)arguments, (void)count, (void)names;
  Py_RETURN_NONE;
}

/* The same, with the one action that every tracer needs in addition. */
#if defined(__x86_64__)
static volatile uint64_t last_time;

static PyObject* clock_call(PyObject* self, PyObject* const* arguments, size_t count,
                            PyObject* names) {
  (void)self, (void)arguments, (void)count, (void)names;
  last_time = __rdtsc();
  Py_RETURN_NONE;
}

static PyObject* clock_hook(PyThreadState* thread, struct _PyInterpreterFrame* frame,
                            int throwing) {
  last_time = __rdtsc();
  PyObject* result = _PyEval_EvalFrameDefault(thread, frame, throwing);
  last_time = __rdtsc();
  return result;
}
#else
#define clock_call NULL
#define clock_hook NULL
#endif

static PyObject* no_clock(void) {
  PyErr_SetString(PyExc_NotImplementedError, "no time-stamp counter is known here");
  return NULL;
}

/* Callback(clock=False): with clock, each call reads the time-stamp counter. */
static PyObject* callback_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"clock", NULL};
  int clock = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|p", names, &clock)) return NULL;
  const vectorcallfunc call = clock ? clock_call : callback_call;
  if (call == NULL) return no_clock();
  Callback* self = (Callback*)type->tp_alloc(type, 0);
  if (self != NULL) self->call = call;
  return (PyObject*)self;
}

static PyTypeObject callback_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "floors.Callback",
    .tp_basicsize = sizeof(Callback),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Callback, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = callback_new,
};

/* A context manager that does nothing. Its type has a vectorcall, and its exit takes its arguments
 * unpacked, so that neither creates a tuple. */
static PyObject* empty_new(PyObject* type, PyObject* const* arguments, size_t count,
                           PyObject* names) {
  (void)arguments, (void)names;
  if (PyVectorcall_NARGS(count) != 1) {
    PyErr_SetString(PyExc_TypeError, "Empty takes a name");
    return NULL;
  }
  return PyObject_New(PyObject, (PyTypeObject*)type);
}

static PyObject* empty_enter(PyObject* self, PyObject* unused) {
  (void)unused;
  return Py_NewRef(self);
}

static PyObject* empty_exit(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  (void)self, (void)arguments, (void)count;
  Py_RETURN_NONE;
}

static PyMethodDef empty_methods[] = {
    {"__enter__", empty_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))empty_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};

static PyTypeObject empty_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "floors.Empty",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_methods = empty_methods,
    .tp_vectorcall = empty_new,
};

static PyObject* frame_hook(PyThreadState* thread, struct _PyInterpreterFrame* frame,
                            int throwing) {
  return _PyEval_EvalFrameDefault(thread, frame, throwing);
}

static PyObject* set_frame_hook(PyObject* self, PyObject* clock) {
  (void)self;
  _PyFrameEvalFunction hook = clock == Py_True ? clock_hook : frame_hook;
  if (clock == Py_None) hook = _PyEval_EvalFrameDefault;
  if (hook == NULL) return no_clock();
  _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), hook);
  Py_RETURN_NONE;
}

static int profile_callback(PyObject* object, PyFrameObject* frame, int what, PyObject* argument) {
  (void)object, (void)frame, (void)what, (void)argument;
  return 0;
}

static PyObject* set_profile(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  PyEval_SetProfile(profile_callback, NULL);
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_frame_hook", set_frame_hook, METH_O,
     "set_frame_hook(clock): install an empty frame hook (PEP 523); with clock True it reads the "
     "time-stamp counter before and after each frame. With None there is no hook."},
    {"set_profile", set_profile, METH_NOARGS, "Install an empty PyEval_SetProfile callback."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "floors", .m_size = -1,
                                    .m_methods = functions};

PyMODINIT_FUNC PyInit_floors(void) {
  if (PyType_Ready(&callback_type) < 0 || PyType_Ready(&empty_type) < 0) return NULL;
  PyObject* self = PyModule_Create(&module);
  if (self == NULL) return NULL;
  if (PyModule_AddObjectRef(self, "Callback", (PyObject*)&callback_type) < 0 ||
      PyModule_AddObjectRef(self, "Empty", (PyObject*)&empty_type) < 0) {
    Py_DECREF(self);
    return NULL;
  }
  return self;
}
