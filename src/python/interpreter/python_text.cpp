#include "python/interpreter/python_text.hpp"

#include "python/interpreter/errors.hpp"

namespace timeloom::python {

PyObject* checked(PyObject* object) {
  if (object == nullptr) throw PythonError();
  return object;
}

std::string bytes_of(PyObject* text) {
  Ref bytes(PyUnicode_EncodeFSDefault(text));
  if (!bytes) {  // a lone surrogate that stands for no byte
    PyErr_Clear();
    bytes = Ref(checked(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass")));
  }
  return {PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))};
}

PyObject* object_of(const std::string& bytes) {
  return PyUnicode_DecodeFSDefaultAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
}

std::vector<std::string> words_of(PyObject* sequence) {
  std::vector<std::string> words;
  Ref fast(checked(PySequence_Fast(sequence, "a list of str")));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    words.push_back(bytes_of(PySequence_Fast_GET_ITEM(fast.get(), i)));
  }
  return words;
}

}  // namespace timeloom::python
