#include "view/answers/json_strings.hpp"

#include <nlohmann/json.hpp>

#include "exchange/format_text.hpp"

namespace timeloom::view {

std::string json_text(const nlohmann::ordered_json& value, int indentation) {
  return exchange::without_commands(
      value.dump(indentation, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace timeloom::view
