// The functions of an object of compiled code, by address. Immutable once made, for any thread.
// Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace timeloom::symbols {

struct FunctionSymbol {
  std::uint64_t address = 0;
  std::string_view name;  // as the linker knows it; valid as long as the table
};

class FunctionSymbols {
 public:
  enum class Binding : std::uint8_t { kLocal, kWeak, kGlobal };
  struct Entry {
    std::uint64_t address = 0;
    std::uint64_t size = 0;   // 0: unknown
    std::uint64_t limit = 0;  // end of its section, for functions of unknown size
    std::uint32_t name = 0;   // offset in the names
    Binding binding = Binding::kLocal;
  };

  FunctionSymbols() = default;
  // `names` contains texts, each ended by a zero. Entries without a name are left out.
  FunctionSymbols(std::vector<Entry> entries, std::vector<char> names);

  bool empty() const noexcept { return functions_.empty(); }
  // The function that contains the address. Of several names of one function the global one, then
  // the one without a version, then the shortest.
  std::optional<FunctionSymbol> find(std::uint64_t address) const noexcept;

 private:
  struct Function {
    std::uint64_t address;
    std::uint64_t end;
    std::uint32_t name;
    std::uint32_t around;  // the innermost function before it that ends behind its start
    bool has_size;
  };

  std::string_view name_at(std::uint32_t offset) const noexcept;
  bool is_better(const Entry& one, const Entry& other) const noexcept;
  void add_surroundings();

  std::vector<Function> functions_;  // in order of addresses, which are unique
  std::vector<char> names_;
};

}  // namespace timeloom::symbols
