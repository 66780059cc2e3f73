#include "python/observe/engines/loader_tasks.hpp"

#include <exception>
#include <string>

#include "core/engines/engine_regions.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/engines/task_region.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/watched.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// Borrowed; null: the frame has no such variable, or no value in it.
PyObject* variable_of(InterpreterFrame* frame, const char* name) noexcept {
  const PyCodeObject* const code = code_of(frame);
  for (int i = 0; i < code->co_nlocals; ++i) {
    if (is_text(PyTuple_GET_ITEM(code->co_localsplusnames, i), name)) return argument_of(frame, i);
  }
  return nullptr;
}

// The number of the batch that a worker's loop is about to fetch, in the order in which the program
// gets them. Empty: the caller is not such a loop (the DataLoader has no workers).
std::string batch_number(InterpreterFrame* fetch) {
  InterpreterFrame* const loop = outer_frame_of(fetch);
  if (loop == nullptr) return {};
  PyObject* number = nullptr;
  for (const char* const name : {"idx", "task_id"}) {
    if (number == nullptr) number = variable_of(loop, name);
  }
  if (number == nullptr || !PyLong_CheckExact(number)) return {};
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  const Ref text(PyObject_Str(number));
  if (!text) PyErr_Clear();
  return text ? utf8_text(text.get()) : std::string();
}

void on_batch(InterpreterFrame* frame, bool recorded) noexcept try {
  if (!record::recording()) return;
  const std::string number = batch_number(frame);
  if (number.empty()) return;
  enter_in_call(frame, recorded, task_word(kLoaderGroup, "batch"));
  put_task_key(number);
} catch (const std::exception&) {
  return;  // out of memory: the batch is not named
}

void on_wait_for_batch(InterpreterFrame* frame, bool recorded) noexcept try {
  if (!record::recording()) return;
  enter_in_call(frame, recorded, transfer_word(kLoaderGroup, "wait for a batch"));
} catch (const std::exception&) {
  return;
}

}  // namespace

void watch_data_loader() {
  const std::string package = "torch.utils.data.";
  for (const char* const kind : {"_MapDatasetFetcher", "_IterableDatasetFetcher"}) {
    watch_function(package + "_utils.fetch." + kind + ".fetch", on_batch);
  }
  for (const char* const loader : {"_MultiProcessingDataLoaderIter", "_ParallelDataLoaderIter"}) {
    watch_function(package + "dataloader." + loader + "._get_data", on_wait_for_batch);
  }
}

}  // namespace timeloom::python
