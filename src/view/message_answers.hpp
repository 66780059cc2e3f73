// The answers about messages, as docs/formats/view-http.md has them.
//
// Plain functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "view/messages.hpp"

namespace timeloom::view {

// How many there are, and whether all of them were kept.
nlohmann::ordered_json facts_of_messages(const Messages& messages);

std::string messages_answer(const Bundled<Bundle>& found);
std::string collectives_answer(const Bundled<Gathering>& found);
std::string matrix_answer(const Bundled<Pair>& found);

}  // namespace timeloom::view
