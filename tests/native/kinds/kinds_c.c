// Functions of C of each calling convention, and objects that are called in other ways.
#include <Python.h>

static PyObject* no_arguments(PyObject* self, PyObject* ignored) { return PyLong_FromLong(1); }
static PyObject* one(PyObject* self, PyObject* argument) { return Py_NewRef(argument); }
static PyObject* tuple(PyObject* self, PyObject* arguments) { return PyLong_FromLong(1); }
static PyObject* keywords(PyObject* self, PyObject* arguments, PyObject* names) {
  return PyLong_FromLong(1);
}
static PyObject* fast(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return PyLong_FromLong(1);
}
static PyObject* fast_keywords(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                               PyObject* names) {
  return PyLong_FromLong(1);
}
static PyObject* with_class(PyObject* self, PyTypeObject* type, PyObject* const* arguments,
                            Py_ssize_t count, PyObject* names) {
  return PyLong_FromLong(1);
}
static PyObject* fails(PyObject* self, PyObject* ignored) {
  PyErr_SetString(PyExc_ValueError, "");
  return NULL;
}
static PyObject* call_object(PyObject* self, PyObject* arguments, PyObject* names) {
  return PyLong_FromLong(1);
}
static PyObject* add(PyObject* left, PyObject* right) { return PyLong_FromLong(1); }
static PyObject* value(PyObject* self, void* closure) { return PyLong_FromLong(1); }

static PyMethodDef g_methods[] = {
    {"method", no_arguments, METH_NOARGS, NULL},
    {"with_class", (PyCFunction)(void (*)(void))with_class,
     METH_METHOD | METH_FASTCALL | METH_KEYWORDS, NULL},
    {"of_class", no_arguments, METH_NOARGS | METH_CLASS, NULL},
    {"static", no_arguments, METH_NOARGS | METH_STATIC, NULL},
    {0},
};
static PyGetSetDef g_values[] = {{"value", value, NULL, NULL, NULL}, {0}};
static PyType_Slot g_slots[] = {{Py_tp_methods, g_methods},
                                {Py_tp_getset, g_values},
                                {Py_tp_call, call_object},
                                {Py_nb_add, add},
                                {0}};
static PyType_Spec g_box = {"kinds_c.Box", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, g_slots};

static PyMethodDef g_functions[] = {
    {"no_arguments", no_arguments, METH_NOARGS, NULL},
    {"one", one, METH_O, NULL},
    {"tuple", tuple, METH_VARARGS, NULL},
    {"keywords", (PyCFunction)(void (*)(void))keywords, METH_VARARGS | METH_KEYWORDS, NULL},
    {"fast", (PyCFunction)(void (*)(void))fast, METH_FASTCALL, NULL},
    {"fast_keywords", (PyCFunction)(void (*)(void))fast_keywords, METH_FASTCALL | METH_KEYWORDS,
     NULL},
    {"fails", fails, METH_NOARGS, NULL},
    {0},
};
static PyModuleDef g_module = {PyModuleDef_HEAD_INIT, "kinds_c", NULL, -1, g_functions};

PyMODINIT_FUNC PyInit_kinds_c(void) {
  PyObject* module = PyModule_Create(&g_module);
  PyObject* box = PyType_FromSpec(&g_box);
  PyModule_AddObjectRef(module, "Box", box);
  Py_DECREF(box);
#ifdef Py_GIL_DISABLED
  PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
  return module;
}
