// The answers about messages, described in docs/formats/view-http.md.
//
// Plain functions. An invalid question throws BadQuestion.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "view/answers/fields.hpp"
#include "view/answers/viewed_messages.hpp"

namespace timeloom::view {

// The number of messages, and whether all of them were kept.
nlohmann::ordered_json facts_of_messages(const Messages& messages);

std::string messages_answer(const Bundled<Bundle>& found);
std::string collectives_answer(const Bundled<Gathering>& found);

// The first fields of such a question, up to the tracks.
MessageQuestion message_question(QuestionReader& in, std::uint32_t most);
// `route`: "messages", "collectives" or "matrix".
std::string message_answer(std::string_view route, const Messages& messages,
                           const Definitions& definitions, const MessageQuestion& question);

}  // namespace timeloom::view
