#include "view/answers/message_answers.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

namespace timeloom::view {

namespace {

constexpr std::uint32_t kMostColumns = 256;

template <typename Item>
AnswerWriter begin_of(const Bundled<Item>& found) {
  AnswerWriter out;
  out.u32(static_cast<std::uint32_t>(found.items.size()));
  out.u32(found.complete ? 1 : 0);
  out.f64(found.count);
  return out;
}

template <typename Item, typename Value>
void numbers(AnswerWriter& out, const std::vector<Item>& items, Value Item::*field) {
  if constexpr (sizeof(Value) == sizeof(std::uint64_t)) {
    out.f64s(items, [&](const Item& item) { return item.*field; });
  } else {
    out.u32s(items, [&](const Item& item) { return item.*field; });
  }
}

template <typename Item, typename... Values>
std::string answer_with(const Bundled<Item>& found, Values Item::*... fields) {
  AnswerWriter out = begin_of(found);
  (numbers(out, found.items, fields), ...);
  return out.take();
}

std::string matrix_answer(const Bundled<Pair>& found) {
  return answer_with(found, &Pair::count, &Pair::bytes, &Pair::waited_sender,
                     &Pair::waited_receiver, &Pair::sender, &Pair::receiver);
}

}  // namespace

nlohmann::ordered_json facts_of_messages(const Messages& messages) {
  nlohmann::ordered_json json;
  json["count"] = messages.all().size();
  json["collectives"] = messages.gatherings().size();
  json["unmatched"] = messages.unmatched();
  json["backwards"] = messages.backwards();
  json["complete"] = messages.is_complete();
  return json;
}

std::string messages_answer(const Bundled<Bundle>& found) {
  return answer_with(found, &Bundle::count, &Bundle::sent, &Bundle::last_sent, &Bundle::received,
                     &Bundle::last_received, &Bundle::bytes, &Bundle::waited_sender,
                     &Bundle::waited_receiver, &Bundle::from_track, &Bundle::to_track,
                     &Bundle::communicator, &Bundle::tag);
}

std::string collectives_answer(const Bundled<Gathering>& found) {
  return answer_with(found, &Gathering::count, &Gathering::begin, &Gathering::end,
                     &Gathering::waited, &Gathering::sent, &Gathering::received, &Gathering::track,
                     &Gathering::communicator, &Gathering::kind, &Gathering::operation);
}

MessageQuestion message_question(QuestionReader& in, std::uint32_t most) {
  MessageQuestion question;
  question.limit = in.u32(1, most);
  question.columns = in.u32(1, kMostColumns);
  if (!std::has_single_bit(question.columns)) throw BadQuestion{"columns are not a power of two"};
  question.from = in.time();
  question.to = std::max(question.from, in.time());
  return question;
}

std::string message_answer(std::string_view route, const Messages& messages,
                           const Definitions& definitions, const MessageQuestion& question) {
  if (route == "messages") return messages_answer(bundles_in(messages, question));
  if (route == "collectives") return collectives_answer(gatherings_in(messages, question));
  return matrix_answer(matrix_of(messages, definitions, question));
}

}  // namespace timeloom::view
