#include "formats/otf2/otf2_library.hpp"

#include <otf2/OTF2_Pthread_Locks.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "core/error.hpp"

namespace timeloom::otf2 {

namespace {

struct Report {
  OTF2_ErrorCode code = OTF2_SUCCESS;
  std::array<char, 512> text{};
};

thread_local Report first_report;

// Called by the library, thus noexcept and without allocation.
OTF2_ErrorCode keep_first(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                          const char* format, va_list arguments) noexcept {
  const bool is_error = code != OTF2_SUCCESS && code != OTF2_WARNING && code != OTF2_DEPRECATED;
  if (is_error && first_report.code == OTF2_SUCCESS) {
    first_report.code = code;
    first_report.text[0] = '\0';
    if (format != nullptr) {
      std::vsnprintf(first_report.text.data(), first_report.text.size(), format, arguments);
    }
  }
  return code;
}

const char* how_to_mend(OTF2_ErrorCode code) {
  switch (code) {
    case OTF2_ERROR_ENOSPC:
    case OTF2_ERROR_EDQUOT:
    case OTF2_ERROR_EFBIG: return "; make room there and try again";
    case OTF2_ERROR_EACCES:
    case OTF2_ERROR_EPERM:
    case OTF2_ERROR_EROFS: return "; choose a directory that you may use";
    case OTF2_ERROR_EMFILE:
    case OTF2_ERROR_ENFILE: return "; raise the limit of open files (ulimit -n)";
    default: return "";
  }
}

}  // namespace

void catch_library_errors() {
  static std::once_flag once;
  std::call_once(once, [] { OTF2_Error_RegisterCallback(keep_first, nullptr); });
}

void forget_library_errors() noexcept { first_report.code = OTF2_SUCCESS; }

void fail(const std::string& what, OTF2_ErrorCode code) {
  std::string line = what;
  if (first_report.code != OTF2_SUCCESS) code = first_report.code;
  if (code != OTF2_SUCCESS) line += std::string(": ") + OTF2_Error_GetDescription(code);
  if (first_report.code != OTF2_SUCCESS && first_report.text[0] != '\0') {
    line += std::string(" (") + first_report.text.data() + ")";
  }
  forget_library_errors();
  throw Error(line + how_to_mend(code) + " [TL315]");
}

void check(OTF2_ErrorCode code, const std::string& what) {
  if (code != OTF2_SUCCESS || first_report.code != OTF2_SUCCESS) fail(what, code);
}

OTF2_ErrorCode set_locks(OTF2_Archive* archive) {
  return OTF2_Pthread_Archive_SetLockingCallbacks(archive, nullptr);
}

OTF2_ErrorCode set_locks(OTF2_Reader* reader) {
  return OTF2_Pthread_Reader_SetLockingCallbacks(reader, nullptr);
}

}  // namespace timeloom::otf2
