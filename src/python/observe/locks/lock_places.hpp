// The lines of the program at which locks are made and taken: where the innermost frame is one of
// Python's own library (`with condition:` takes its lock in threading.py), the line that called it.
//
// With the GIL of the main interpreter, on a thread that runs Python code. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "python/interpreter/compat.hpp"
#include "record/locks/lock_account.hpp"

namespace timeloom::python {

class LockPlaces {
 public:
  explicit LockPlaces(record::LockAccount& account);
  ~LockPlaces();
  LockPlaces(const LockPlaces&) = delete;
  LockPlaces& operator=(const LockPlaces&) = delete;
  // In the child of a fork: from here on for its own account, which has the same places.
  void use(record::LockAccount& account) noexcept { account_ = &account; }

  // kNone: no Python code runs.
  record::LockAccount::PlaceId here();

  struct Making {
    record::LockAccount::PlaceId place = record::LockAccount::kNone;
    std::uint32_t maker = 0;  // a text, the outermost function of the library
    bool waits = false;       // Condition.wait() makes it, to wait for notify()
    bool hidden = false;      // Timeloom makes it, or a thread for its own end
  };
  Making making();

 private:
  struct Known {
    record::LockAccount::PlaceId place = record::LockAccount::kNone;
    bool library = false;
    bool importing = false;
    bool own = false;  // of Timeloom
  };
  const Known& known(PyCodeObject* code, int instruction);
  Known learn(PyCodeObject* code, int instruction);

  record::LockAccount* account_;
  std::string own_;                  // the directory of Timeloom's package, with a slash
  std::string library_;              // its directory, with a slash; empty: not known
  record::PointerMap<Known> known_;  // by code, of which it holds a reference, and instruction
  std::vector<PyCodeObject*> referenced_;
};

}  // namespace timeloom::python
