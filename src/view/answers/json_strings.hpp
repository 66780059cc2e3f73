// JSON as text. A pure function, for any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace timeloom::view {

// Bytes of names that are not UTF-8 are replaced; characters that control terminals are escaped.
// Indentation -1: one line. Throws std::bad_alloc.
std::string json_text(const nlohmann::ordered_json& value, int indentation = -1);

}  // namespace timeloom::view
