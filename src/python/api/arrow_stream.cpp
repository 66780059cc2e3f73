// _core.arrow_stream(): the batches of a table as a capsule "arrow_array_stream", which pandas,
// polars, pyarrow and duckdb use without copying. Follows the Arrow PyCapsule Interface:
// https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html.
//
// The stream asks an iterator for a batch when its reader requests one, so memory holds no more
// than the reader keeps. Any thread may call its functions, without the GIL, one at a time.
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "python/api/arrow_abi.hpp"
#include "python/api/user_api.hpp"
#include "python/interpreter/errors.hpp"

namespace timeloom::python {
namespace {

constexpr char kCapsule[] = "arrow_array_stream";

class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() { PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

struct Batch;

struct Column {
  std::string name;
  std::string format;
  std::shared_ptr<Batch> words;  // dictionary of a text column, as a batch of one column
};

// The owner of a Stream.
struct Source {
  std::vector<Column> columns;
  Ref batches;
  std::string error;
};

// The strings and children of a Schema. A reader may move children out of it, so each child and the
// whole own a share.
struct Fields {
  std::vector<Column> columns;
  std::vector<arrow::Schema> children;
  std::vector<arrow::Schema> dictionaries;  // of columns that have one
  std::vector<arrow::Schema*> places;
};

// The same for an Array.
struct Batch {
  Ref body;
  std::vector<Column> columns;
  std::vector<std::vector<const void*>> buffers;  // by column
  std::vector<arrow::Array> children;
  std::vector<arrow::Array> dictionaries;
  std::vector<arrow::Array*> places;
  const void* no_validity = nullptr;  // the only buffer of the whole
};

// Python objects are leaked when the interpreter has ended already.
template <typename Owner>
void drop(Owner* owner) {
  if (Py_IsInitialized() == 0) return;
  const Gil gil;
  delete owner;
}

template <typename Contents, typename Structure>
void release_stream(Structure* structure) {
  for (std::int64_t i = 0; i < structure->children_count; ++i) {
    Structure* const child = structure->children[i];
    if (child->release != nullptr) child->release(child);
  }
  Structure* const dictionary = structure->dictionary;
  if (dictionary != nullptr && dictionary->release != nullptr) dictionary->release(dictionary);
  structure->release = nullptr;
  delete static_cast<std::shared_ptr<Contents>*>(structure->owner);  // may be the last share
}

// Gives a share to `whole`, its children and their dictionaries.
template <typename Contents, typename Structure>
void give_shares(const std::shared_ptr<Contents>& contents, Structure& whole) {
  std::vector<Structure*> all = {&whole};
  for (Structure& one : contents->children) all.push_back(&one);
  for (Structure& one : contents->dictionaries) all.push_back(&one);
  std::vector<std::unique_ptr<std::shared_ptr<Contents>>> shares;
  for (std::size_t i = 0; i < all.size(); ++i) {
    shares.push_back(std::make_unique<std::shared_ptr<Contents>>(contents));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i]->owner = shares[i].release();
    all[i]->release = release_stream<Contents, Structure>;
  }
}

// Joins each column of texts with the next dictionary.
template <typename Contents>
void join_dictionaries(Contents& contents) {
  auto next = contents.dictionaries.begin();
  for (std::size_t i = 0; i < contents.columns.size(); ++i) {
    if (contents.columns[i].words) contents.children[i].dictionary = &*next++;
  }
}

void release_stream(arrow::Stream* stream) {
  drop(static_cast<Source*>(stream->owner));
  stream->release = nullptr;
}

// A field without children; its owner's share is added later.
arrow::Schema field_of(const char* format, const char* name) {
  return {.format = format,
          .name = name,
          .metadata = nullptr,
          .flags = arrow::kNullable,
          .children_count = 0,
          .children = nullptr,
          .dictionary = nullptr,
          .release = nullptr,
          .owner = nullptr};
}

int get_schema(arrow::Stream* stream, arrow::Schema* out) noexcept try {
  const auto fields = std::make_shared<Fields>();
  fields->columns = static_cast<Source*>(stream->owner)->columns;
  for (const Column& column : fields->columns) {
    fields->children.push_back(field_of(column.format.c_str(), column.name.c_str()));
    if (column.words) fields->dictionaries.push_back(field_of("u", ""));
  }
  join_dictionaries(*fields);
  for (arrow::Schema& child : fields->children) fields->places.push_back(&child);
  *out = {.format = "+s",
          .name = "",
          .metadata = nullptr,
          .flags = 0,
          .children_count = static_cast<std::int64_t>(fields->places.size()),
          .children = fields->places.data(),
          .dictionary = nullptr,
          .release = nullptr,
          .owner = nullptr};
  give_shares(fields, *out);
  return 0;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

// Converts (body, rows, [(nulls, [(offset, length), ...]), ...]), with an entry for each column.
std::shared_ptr<Batch> batch_of(PyObject* item, std::size_t columns, long long* rows) {
  std::shared_ptr<Batch> batch(new Batch, drop<Batch>);
  PyObject *body, *parts;
  if (PyArg_ParseTuple(item, "SLO!", &body, rows, &PyList_Type, &parts) == 0) throw PythonError();
  batch->body = Ref(Py_NewRef(body));
  if (PyList_GET_SIZE(parts) != static_cast<Py_ssize_t>(columns)) {
    throw Error("a batch of other columns");
  }
  const char* const bytes = PyBytes_AS_STRING(body);
  batch->buffers.resize(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    long long nulls = 0;
    PyObject* places;
    PyObject* const part = PyList_GET_ITEM(parts, static_cast<Py_ssize_t>(i));
    if (PyArg_ParseTuple(part, "LO!", &nulls, &PyList_Type, &places) == 0) throw PythonError();
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(places); ++k) {
      Py_ssize_t offset = 0, length = 0;
      if (PyArg_ParseTuple(PyList_GET_ITEM(places, k), "nn", &offset, &length) == 0) {
        throw PythonError();
      }
      const bool inside = offset >= 0 && length >= 0 && length <= PyBytes_GET_SIZE(body) - offset;
      if (!inside) throw Error("a buffer beyond its batch");
      const bool validity = k == 0;
      batch->buffers[i].push_back(validity && length == 0 ? nullptr : bytes + offset);
    }
    batch->children.push_back({.length = *rows,
                               .null_count = nulls,
                               .offset = 0,
                               .buffers_count = PyList_GET_SIZE(places),
                               .children_count = 0,
                               .buffers = batch->buffers[i].data(),
                               .children = nullptr,
                               .dictionary = nullptr,
                               .release = nullptr,
                               .owner = nullptr});
  }
  for (arrow::Array& child : batch->children) batch->places.push_back(&child);
  return batch;
}

// None: the column has no dictionary.
std::shared_ptr<Batch> words_of(PyObject* item) {
  long long rows = 0;
  return item == Py_None ? nullptr : batch_of(item, 1, &rows);
}

// Leaves `out` released after the last batch.
void next_batch(const Source& source, arrow::Array* out) {
  *out = {};
  const Ref item(PyIter_Next(source.batches.get()));
  if (!item) {
    if (PyErr_Occurred() != nullptr) throw PythonError();
    return;
  }
  long long rows = 0;
  const std::shared_ptr<Batch> batch = batch_of(item.get(), source.columns.size(), &rows);
  batch->columns = source.columns;
  for (const Column& column : source.columns) {
    if (column.words) batch->dictionaries.push_back(column.words->children.front());
  }
  join_dictionaries(*batch);
  *out = {.length = rows,
          .null_count = 0,
          .offset = 0,
          .buffers_count = 1,
          .children_count = static_cast<std::int64_t>(batch->places.size()),
          .buffers = &batch->no_validity,
          .children = batch->places.data(),
          .dictionary = nullptr,
          .release = nullptr,
          .owner = nullptr};
  give_shares(batch, *out);
}

int get_next(arrow::Stream* stream, arrow::Array* out) noexcept {
  auto& source = *static_cast<Source*>(stream->owner);
  const Gil gil;
  try {
    next_batch(source, out);
    return 0;
  } catch (const PythonError&) {
    source.error = take_exception_text();
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::exception& error) {
    source.error = error.what();
  }
  return EIO;
}

const char* get_last_error(arrow::Stream* stream) {
  const std::string& error = static_cast<Source*>(stream->owner)->error;
  return error.empty() ? nullptr : error.c_str();
}

void release_capsule(PyObject* capsule) {
  auto* const stream = static_cast<arrow::Stream*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

PyObject* arrow_stream(PyObject*, PyObject* arguments) {
  PyObject *columns, *batches;
  if (PyArg_ParseTuple(arguments, "O!O", &PyList_Type, &columns, &batches) == 0) return nullptr;
  auto source = std::make_unique<Source>();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(columns); ++i) {
    const char *name, *format;
    PyObject* words;
    PyObject* const column = PyList_GET_ITEM(columns, i);
    if (PyArg_ParseTuple(column, "ssO", &name, &format, &words) == 0) return nullptr;
    source->columns.push_back({name, format, words_of(words)});
  }
  source->batches = Ref(PyObject_GetIter(batches));
  if (!source->batches) return nullptr;
  auto stream = std::make_unique<arrow::Stream>();
  *stream = {get_schema, get_next, get_last_error, release_stream, source.get()};
  PyObject* const capsule = PyCapsule_New(stream.get(), kCapsule, release_capsule);
  if (capsule == nullptr) return nullptr;
  (void)source.release();
  (void)stream.release();
  return capsule;
}

}  // namespace

PyMethodDef kArrowMethods[] = {{"arrow_stream", guarded<arrow_stream>, METH_VARARGS,
                                "A capsule of Arrow's C stream interface: arrow_stream([(name, "
                                "format, words), ...], batches)."},
                               {nullptr, nullptr, 0, nullptr}};

}  // namespace timeloom::python
