#include "python/session/worker_name.hpp"

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <utility>

#include "core/engines/engine_regions.hpp"
#include "python/interpreter/compat.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// Borrowed; null: the program has not imported the module.
PyObject* imported_module(const char* module) {
  PyObject* const found = PyDict_GetItemString(PyImport_GetModuleDict(), module);
  return found != nullptr && PyModule_Check(found) ? found : nullptr;
}

// Null: the attribute is missing, or None. Leaves no exception.
Ref worker_attribute(PyObject* object, const char* name) {
  Ref value(object == nullptr ? nullptr : PyObject_GetAttrString(object, name));
  if (!value) PyErr_Clear();
  return value && value.get() != Py_None ? std::move(value) : Ref();
}

// The str() of the object; empty: none.
std::string text(const Ref& object) {
  const Ref written(object ? PyObject_Str(object.get()) : nullptr);
  if (written) return bytes_of(written.get());
  PyErr_Clear();
  return {};
}

// The first element; null: none.
Ref first_of(PyObject* iterable) {
  const Ref iterator(iterable == nullptr ? nullptr : PyObject_GetIter(iterable));
  Ref first(iterator ? PyIter_Next(iterator.get()) : nullptr);
  PyErr_Clear();
  return first;
}

std::string data_loader_worker() {
  const Ref info =
      worker_attribute(imported_module("torch.utils.data._utils.worker"), "_worker_info");
  const std::string id = text(worker_attribute(info.get(), "id"));
  return id.empty() ? id : "DataLoader worker " + id;
}

// Celery uses the pools of billiard.
std::string celery_worker() {
  const Ref process = worker_attribute(imported_module("billiard.process"), "_current_process");
  const std::string name = text(worker_attribute(process.get(), "_name"));
  return name == "MainProcess" ? std::string() : name;
}

// The functions that run tasks, see observe/engines/engine_tasks.cpp.
void note_unknown_version(PyObject* worker_module) {
  static std::uint32_t noted_in = 0;  // a measurement
  const std::uint32_t now = record::measurement_number();
  if (std::exchange(noted_in, now) == now) return;
  for (const char* const known : {"_run_task", "apply_function"}) {
    if (PyObject_HasAttrString(worker_module, known) != 0) return;
  }
  const Ref version = worker_attribute(imported_module("distributed"), "__version__");
  record::note_property(kUnknownEngine, "distributed " + text(version));
}

// Empty until it has an address. Several workers in one process have no process of their own.
std::string dask_worker() {
  const Ref type = worker_attribute(imported_module("distributed.worker"), "Worker");
  const Ref all = worker_attribute(type.get(), "_instances");
  if (!all || PyObject_Size(all.get()) != 1) return PyErr_Clear(), std::string();
  const Ref worker = first_of(all.get());
  const std::string address = text(worker_attribute(worker.get(), "address"));
  if (address.empty()) return address;
  note_unknown_version(imported_module("distributed.worker"));
  return "Dask worker " + text(worker_attribute(worker.get(), "name")) + " " + address;
}

std::optional<WorkerName> ray_worker() {
  constexpr std::size_t kShown = 8;
  constexpr long kWorkerMode = 1;
  const Ref worker = worker_attribute(imported_module("ray._private.worker"), "global_worker");
  const Ref mode = worker_attribute(worker.get(), "mode");
  if (!mode || !PyLong_Check(mode.get()) || PyLong_AsLong(mode.get()) != kWorkerMode) return {};
  const Ref id = worker_attribute(worker.get(), "worker_id");
  const Ref hexadecimal(id ? PyObject_CallMethod(id.get(), "hex", nullptr) : nullptr);
  if (!hexadecimal) return PyErr_Clear(), std::nullopt;
  const std::string shown = text(hexadecimal).substr(0, kShown);
  const Ref actors = worker_attribute(worker.get(), "actors");
  const Ref key = first_of(actors.get());
  const Ref actor(key ? PyObject_GetItem(actors.get(), key.get()) : nullptr);
  PyErr_Clear();
  if (!actor) return WorkerName{"Ray worker " + shown, false};
  const std::string type = Py_TYPE(actor.get())->tp_name;
  return WorkerName{"Ray actor " + type.substr(type.rfind('.') + 1) + " " + shown};
}

}  // namespace

// Processes that a worker starts inherit the variable; only execnet's own process has its module.
std::string xdist_worker() {
  const char* const value = std::getenv("PYTEST_XDIST_WORKER");
  return value != nullptr && imported_module("execnet.gateway_base") != nullptr ? value
                                                                                : std::string();
}

std::optional<WorkerName> worker_name(bool forked) noexcept {
  const record::KeepOff nothing_of_this;
  const ErrorGuard guard;
  try {
    if (const std::string name = forked ? std::string() : xdist_worker(); !name.empty()) {
      return WorkerName{name};
    }
    for (const auto ask : {data_loader_worker, celery_worker, dask_worker}) {
      if (const std::string name = ask(); !name.empty()) return WorkerName{name};
    }
    return ray_worker();
  } catch (const std::exception&) {
    return std::nullopt;
  } catch (const PythonError&) {
    PyErr_Clear();
    return std::nullopt;
  }
}

}  // namespace timeloom::python
