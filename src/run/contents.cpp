#include "run/contents.hpp"

namespace timeloom::run {
namespace {

bool is_known_by_extension(const Entry& entry, std::string_view name) noexcept {
  return entry.known_by_extension && name.ends_with(entry.name.substr(entry.name.rfind('.')));
}

}  // namespace

const Entry* find_entry(std::string_view name, Kind kind) noexcept {
  for (const Entry& entry : kContents) {
    if (entry.kind == kind && entry.role != Role::kMark && entry.name == name) return &entry;
  }
  for (const Entry& entry : kContents) {
    if (kind == Kind::kFile && is_known_by_extension(entry, name)) return &entry;
  }
  return nullptr;
}

}  // namespace timeloom::run
