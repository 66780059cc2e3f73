// Ranges and marks of NVTX. The first call of NVTX in the process loads this library, because
// NVTX_INJECTION64_PATH names it, and calls InitializeInjectionNvtx2(), which puts functions of
// Timeloom into its tables. CUDA and CUPTI are not needed for it.
#include <algorithm>
#include <atomic>
#include <cwchar>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu/cuda/nvtx_interface.hpp"
#include "gpu/cuda/ranges.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"

namespace timeloom::cuda {
namespace {

struct OpenRange {
  const void* domain;
  std::string name;
  std::uint32_t category;
  std::uint64_t thread;
  std::uint64_t start;
  int level = 0;  // of a pushed range, in its domain
};

// Lives as long as the process: threads may call NVTX while it ends.
struct Ranges {
  std::mutex mutex;  // guards all members
  std::deque<std::string> registered;
  std::map<std::pair<const void*, std::uint32_t>, std::string> categories;  // of domains
  std::unordered_map<std::uint64_t, OpenRange> started;
  std::uint64_t last_id = 0;
};
Ranges& ranges() {
  static auto* const all = new Ranges;
  return *all;
}

// A program that never pops must not grow without end: deeper ranges are counted alone.
constexpr std::size_t kMostPushed = 4096;
thread_local std::vector<OpenRange> t_pushed;
thread_local std::uint64_t t_deeper = 0;

// Where a thread is inside NVTX while another one forks, the child would wait for it.
void lock_ranges() { ranges().mutex.lock(); }
void unlock_ranges() { ranges().mutex.unlock(); }

std::string utf8_text(const wchar_t* wide) {
  std::string text;
  for (; *wide != 0; ++wide) {
    const auto code = static_cast<std::uint32_t>(*wide);
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    const auto more = [&](unsigned shift) { put(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xc0 | code >> 6);
      more(0);
    } else if (code < 0x10000) {
      put(0xe0 | code >> 12);
      more(6);
      more(0);
    } else {
      put(0xf0 | (code >> 18 & 7));
      more(12);
      more(6);
      more(0);
    }
  }
  return text;
}

std::string name_text(const char* name) { return name == nullptr ? "" : name; }
std::string name_text(const wchar_t* name) { return name == nullptr ? "" : utf8_text(name); }
std::string name_text(const NvtxAttributes* attributes) {
  if (attributes == nullptr || attributes->message == nullptr) return {};
  if (attributes->size < sizeof(NvtxAttributes)) return {};
  switch (attributes->message_type) {
    case NvtxMessage::kAscii: return name_text(static_cast<const char*>(attributes->message));
    case NvtxMessage::kWide: return name_text(static_cast<const wchar_t*>(attributes->message));
    case NvtxMessage::kRegistered: return *static_cast<const std::string*>(attributes->message);
  }
  return {};
}

std::uint32_t category_of(const char*) { return 0; }
std::uint32_t category_of(const wchar_t*) { return 0; }
std::uint32_t category_of(const NvtxAttributes* attributes) {
  const bool has_one = attributes != nullptr && attributes->size >= sizeof(NvtxAttributes);
  return has_one ? attributes->category : 0;
}

// Of a category without a name: its number.
std::string category_text(const void* domain, std::uint32_t category) {
  if (category == 0) return {};
  const std::lock_guard lock(ranges().mutex);
  const auto named = ranges().categories.find({domain, category});
  return named == ranges().categories.end() ? std::to_string(category) : named->second;
}

template <typename Name>
OpenRange open_range(const void* domain, Name name) {
  std::string text = name_text(name);
  if (text.empty()) text = "(no name)";
  return {domain, std::move(text), category_of(name), os::thread_id(), os::now()};
}

void add_range_until(const OpenRange& range, std::uint64_t end) noexcept {
  try {
    std::string_view domain;
    if (range.domain != nullptr) domain = *static_cast<const std::string*>(range.domain);
    const std::string category = category_text(range.domain, range.category);
    add_range({range.name, domain, category, range.thread, range.start, end});
  } catch (const std::exception&) {  // no memory
  }
}

void close_range(const OpenRange& range) noexcept { add_range_until(range, os::now()); }

// The functions of NVTX. A domain has ranges of its own; the level of a range counts from 0.

template <typename Name>
int push(const void* domain, Name name) noexcept {
  const auto outer =
      std::ranges::find(t_pushed.rbegin(), t_pushed.rend(), domain, &OpenRange::domain);
  const int level = outer == t_pushed.rend() ? 0 : outer->level + 1;
  try {
    if (t_deeper > 0 || t_pushed.size() == kMostPushed) {
      ++t_deeper;
    } else {
      t_pushed.push_back(open_range(domain, name));
      t_pushed.back().level = level;
    }
  } catch (const std::exception&) {  // no memory
    ++t_deeper;
  }
  return level;
}

int pop(const void* domain) noexcept {
  constexpr int kNone = -2;  // as NVTX returns it
  const auto last =
      std::ranges::find(t_pushed.rbegin(), t_pushed.rend(), domain, &OpenRange::domain);
  if (last == t_pushed.rend()) return kNone;
  const int level = last->level;
  if (t_deeper > 0) {
    --t_deeper;
    return level;
  }
  close_range(*last);
  t_pushed.erase(last.base() - 1);
  return level;
}

template <typename Name>
std::uint64_t start(const void* domain, Name name) noexcept {
  try {
    OpenRange range = open_range(domain, name);
    const std::lock_guard lock(ranges().mutex);
    const std::uint64_t id = ++ranges().last_id;
    ranges().started.emplace(id, std::move(range));
    return id;
  } catch (const std::exception&) {  // no memory
    return 0;
  }
}

void end(std::uint64_t id) noexcept {
  Ranges& all = ranges();
  std::unique_lock lock(all.mutex);
  const auto found = all.started.extract(id);
  lock.unlock();
  if (!found.empty()) close_range(found.mapped());
}

// A mark is a range without length.
template <typename Name>
void mark(const void* domain, Name name) noexcept {
  try {
    const OpenRange one = open_range(domain, name);
    add_range_until(one, one.start);
  } catch (const std::exception&) {  // no memory
  }
}

template <typename Name>
void name_category(const void* domain, std::uint32_t category, Name name) noexcept {
  constexpr std::size_t kMostCategories = 10'000;
  try {
    std::string text = name_text(name);
    const std::lock_guard lock(ranges().mutex);
    auto& categories = ranges().categories;
    if (categories.size() < kMostCategories) categories[{domain, category}] = std::move(text);
  } catch (const std::exception&) {  // no memory
  }
}

template <typename Name>
const void* register_string(const void*, Name name) noexcept {
  try {
    std::string text = name_text(name);
    const std::lock_guard lock(ranges().mutex);
    return &ranges().registered.emplace_back(std::move(text));
  } catch (const std::exception&) {  // no memory
    return nullptr;
  }
}

// A domain is known by its address, which has its name; NULL is the default domain.
template <typename Name>
const void* create_domain(Name name) noexcept {
  return register_string(nullptr, name);
}
template <typename Name>
int push_default(Name name) noexcept {
  return push(nullptr, name);
}
template <typename Name>
std::uint64_t start_default(Name name) noexcept {
  return start(nullptr, name);
}
template <typename Name>
void mark_default(Name name) noexcept {
  mark(nullptr, name);
}
template <typename Name>
void name_category_default(std::uint32_t category, Name name) noexcept {
  name_category(nullptr, category, name);
}
int pop_default() noexcept { return pop(nullptr); }
void end_in(const void*, std::uint64_t id) noexcept { end(id); }

// The places of one module.
class Table {
 public:
  Table(const NvtxCallbacks& callbacks, NvtxModule module) {
    if (callbacks.functions(module, &places_, &count_) == 0) count_ = 0;
  }
  template <typename Place, typename Function>
  void set(Place place, Function* function) {
    const auto index = static_cast<std::uint32_t>(place);
    if (index >= count_ || places_[index] == nullptr) return;
    *places_[index] = reinterpret_cast<NvtxFunction>(function);
  }

 private:
  NvtxFunction** places_ = nullptr;
  unsigned count_ = 0;
};

void set_functions(const NvtxCallbacks& callbacks) {
  using Attributes = const NvtxAttributes*;
  Table core(callbacks, NvtxModule::kCore);
  core.set(NvtxCore::kMarkEx, &mark_default<Attributes>);
  core.set(NvtxCore::kMarkA, &mark_default<const char*>);
  core.set(NvtxCore::kMarkW, &mark_default<const wchar_t*>);
  core.set(NvtxCore::kNameCategoryA, &name_category_default<const char*>);
  core.set(NvtxCore::kNameCategoryW, &name_category_default<const wchar_t*>);
  core.set(NvtxCore::kRangePushEx, &push_default<Attributes>);
  core.set(NvtxCore::kRangePushA, &push_default<const char*>);
  core.set(NvtxCore::kRangePushW, &push_default<const wchar_t*>);
  core.set(NvtxCore::kRangePop, &pop_default);
  core.set(NvtxCore::kRangeStartEx, &start_default<Attributes>);
  core.set(NvtxCore::kRangeStartA, &start_default<const char*>);
  core.set(NvtxCore::kRangeStartW, &start_default<const wchar_t*>);
  core.set(NvtxCore::kRangeEnd, &end);
  Table domains(callbacks, NvtxModule::kCore2);
  domains.set(NvtxCore2::kMarkEx, &mark<Attributes>);
  domains.set(NvtxCore2::kNameCategoryA, &name_category<const char*>);
  domains.set(NvtxCore2::kNameCategoryW, &name_category<const wchar_t*>);
  domains.set(NvtxCore2::kRangePushEx, &push<Attributes>);
  domains.set(NvtxCore2::kRangePop, &pop);
  domains.set(NvtxCore2::kRangeStartEx, &start<Attributes>);
  domains.set(NvtxCore2::kRangeEnd, &end_in);
  domains.set(NvtxCore2::kCreateA, &create_domain<const char*>);
  domains.set(NvtxCore2::kCreateW, &create_domain<const wchar_t*>);
  domains.set(NvtxCore2::kRegisterStringA, &register_string<const char*>);
  domains.set(NvtxCore2::kRegisterStringW, &register_string<const wchar_t*>);
}

}  // namespace
}  // namespace timeloom::cuda

// Called by NVTX, once for each library of the process that contains it. Returns 1, success.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX has chosen the name
extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(
    timeloom::cuda::NvtxExports exports) {
  const auto* const callbacks = static_cast<const timeloom::cuda::NvtxCallbacks*>(
      exports == nullptr ? nullptr : exports(timeloom::cuda::kNvtxCallbacks));
  const bool usable = callbacks != nullptr && callbacks->size >= sizeof *callbacks;
  if (!usable || !timeloom::cuda::begin_ranges()) return 0;
  static const bool kept = [] {
    timeloom::os::at_fork(timeloom::cuda::lock_ranges, timeloom::cuda::unlock_ranges,
                          timeloom::cuda::unlock_ranges);
    return true;
  }();
  (void)kept;
  timeloom::cuda::set_functions(*callbacks);
  return 1;
}
