// The strings of an archive that is being written: maps texts to OTF2 references.
//
// Owned by the writer. Any thread may call intern() and refer(); all other functions require that
// no other thread does. Reference 0 is the empty string, as readers expect. Throws only
// std::bad_alloc.
#pragma once

#include <otf2/otf2.h>

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace timeloom::otf2 {

// The text in the form that OTF2 can represent: without zero bytes, and cut after `longest` bytes
// at the end of a character.
std::string writable(const std::string& text, std::size_t longest);

class StringTable {
 public:
  StringTable() { intern(""); }
  OTF2_StringRef intern(const std::string& text);
  // The same for a string that events refer to, not only definitions.
  OTF2_StringRef refer(const std::string& text);
  bool is_referred(OTF2_StringRef reference) const {
    return reference < referred_.size() && referred_[reference];
  }
  // The strings in the order of their references, ready for writing.
  const std::deque<std::string>& strings() const { return strings_; }
  std::size_t longest() const { return longest_; }

 private:
  OTF2_StringRef find_or_add(const std::string& text);

  std::mutex mutex_;
  std::unordered_map<std::string, OTF2_StringRef> references_;
  std::deque<std::string> strings_;
  std::vector<bool> referred_;
  std::size_t longest_ = 0;
};

}  // namespace timeloom::otf2
