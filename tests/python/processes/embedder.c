// A server that embeds Python as mod_wsgi does: `applications` sub-interpreters, each with its
// state, and threads of C that enter one for each request. Usage: PYTHON GIL APPLICATIONS THREADS
// REQUESTS
//
// GIL: "common", or "own" (3.12 and later). Everything ends in order: threads, interpreters,
// Python.
#include <Python.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 16 };

static PyInterpreterState* interpreters[kMost];
static PyThreadState* main_state;
static PyThreadState* first_states[kMost];
static int applications, threads, requests;

static void run(const char* text) {
  if (PyRun_SimpleString(text) != 0) exit(3);
}

static void fail_if(PyStatus status) {
  if (PyStatus_Exception(status)) Py_ExitStatusException(status);
}

// Returns with the new interpreter's state as the current one.
static PyThreadState* new_interpreter(int own_gil) {
#if PY_VERSION_HEX >= 0x030c0000
#ifdef Py_GIL_DISABLED
  const int checks = 1;  // builds without a GIL insist on it
#else
  const int checks = own_gil;
#endif
  PyInterpreterConfig config = {
      .use_main_obmalloc = !own_gil,
      .allow_fork = !own_gil,
      .allow_exec = !own_gil,
      .allow_threads = 1,
      .allow_daemon_threads = !own_gil,
      .check_multi_interp_extensions = checks,
      .gil = own_gil ? PyInterpreterConfig_OWN_GIL : PyInterpreterConfig_SHARED_GIL};
  PyThreadState* made = NULL;
  fail_if(Py_NewInterpreterFromConfig(&made, &config));
  return made;
#else
  if (own_gil) exit(4);
  return Py_NewInterpreter();
#endif
}

// Returns without a current state, and without a GIL.
static void end_interpreter(PyThreadState* state) {
  Py_EndInterpreter(state);
#if PY_VERSION_HEX < 0x030c0000
  PyThreadState_Swap(main_state);  // the GIL is held still
  PyEval_SaveThread();
#endif
}

static void* serve(void* number) {
  for (int i = 0; i < requests; ++i) {
    PyThreadState* state = PyThreadState_New(interpreters[(i + *(int*)number) % applications]);
    PyEval_RestoreThread(state);
    run("handle()");
    PyThreadState_Clear(state);
    PyThreadState_DeleteCurrent();
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  applications = atoi(argv[3]), threads = atoi(argv[4]), requests = atoi(argv[5]);
  if (applications > kMost || threads > kMost) return 2;
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  fail_if(PyConfig_SetBytesString(&config, &config.program_name, argv[1]));
  fail_if(Py_InitializeFromConfig(&config));
  PyConfig_Clear(&config);
  run("import timeloom; measurement = timeloom.Measurement(output='run').start()");

  main_state = PyThreadState_Get();
  for (int i = 0; i < applications; ++i) {
    PyEval_SaveThread();
    PyEval_RestoreThread(main_state);
    first_states[i] = new_interpreter(strcmp(argv[2], "own") == 0);
    interpreters[i] = PyThreadState_GetInterpreter(first_states[i]);
    run("def step(): pass\ndef handle():\n  for _ in range(10): step()");
    PyThreadState_Swap(main_state);
  }
  PyEval_SaveThread();
  pthread_t ids[kMost];
  int numbers[kMost];
  for (int i = 0; i < threads; ++i) {
    numbers[i] = i;
    if (pthread_create(&ids[i], NULL, serve, &numbers[i]) != 0) return 3;
  }
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < applications; ++i) {
    PyEval_RestoreThread(first_states[i]);
    end_interpreter(first_states[i]);
  }
  PyEval_RestoreThread(main_state);
  run("measurement.finish()");
  if (Py_FinalizeEx() != 0) return 5;
  puts("served");
  return 0;
}
