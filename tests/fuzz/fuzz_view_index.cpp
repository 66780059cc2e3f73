// Any bytes as an index of the viewer, in which every check is right: it is opened and asked for
// everything, or refused with an Error. The seeds are indices that `timeloom view` has made of
// small runs.
#include <cstring>

#include "core/error.hpp"
#include "view/answers/auxiliary_events.hpp"
#include "view/answers/call_details.hpp"
#include "view/answers/find.hpp"
#include "view/answers/group_tiles.hpp"
#include "view/answers/range_table.hpp"
#include "view/answers/viewed_messages.hpp"
#include "view/index/tile.hpp"
#include "view_run.hpp"

namespace timeloom::view {
namespace {

// The head says what the file is.
std::string with_sound_head(std::string_view bytes) {
  std::string file(bytes);
  Header header;
  const Header sound;
  std::memcpy(&header, file.data(), sizeof header);
  header.magic = sound.magic;
  header.version = sound.version;
  header.source = 0;
  header.size = file.size();
  header.check = 0;
  header.check = check_of_bytes(record_bytes(&header, 1));
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

template <typename Work>
void try_to(Work work) {
  try {
    work();
  } catch (const Error&) {
    // said clearly
  }
}

void ask_track(const Index& index, const Definitions& definitions, std::uint32_t number) {
  const auto track = index.track(number);
  const std::uint64_t end = track->record().end, middle = end / 2;
  for (const TileKey place :
       {TileKey{0, middle / kColumns}, TileKey{5, 0}, TileKey{kLastLevel, 0}}) {
    try_to([&] {
      const Picture picture = picture_at(*track, place, 0, 40);
      const std::size_t cells = std::size_t{picture.rows} * kColumns;
      if (picture.rows > 40 || picture.region.size() != cells || picture.cover.size() != cells) {
        std::abort();
      }
    });
  }
  try_to([&] {
    CallQuestion question;
    question.from = middle / 2;
    question.to = end;
    question.limit = 1000;
    if (calls_in(*track, question).calls.size() > question.limit) std::abort();
  });
  try_to([&] { static_cast<void>(call_details(index, definitions, number, 1, middle)); });
}

void ask_besides_calls(const Index& index, const Definitions& definitions) {
  const AuxiliaryEvents events(index, definitions);
  for (const auto& [key, series] : events.series()) {
    const ValuesQuestion question{key, 5, 20'000};
    const auto found = values_in(index, events, definitions, {&question, 1});
    if (found.front().size() > Series::kMost) std::abort();
  }
  const Messages messages(index, definitions, events.message_ends());
  for (const std::size_t limit : {std::size_t{3}, std::size_t{1000}}) {
    MessageQuestion question;
    question.to = kLastTime;
    question.limit = limit;
    question.columns = 4;
    if (bundles_in(messages, question).items.size() > limit) std::abort();
    if (gatherings_in(messages, question).items.size() > limit) std::abort();
    if (matrix_of(messages, definitions, question).items.size() > limit) std::abort();
  }
}

void ask(const Index& index, const Definitions& definitions) {
  std::vector<std::uint32_t> tracks;
  for (std::uint32_t i = 0; i < index.tracks().size() && i < 8; ++i) tracks.push_back(i);
  for (const std::uint32_t number : tracks) try_to([&] { ask_track(index, definitions, number); });
  try_to([&] { static_cast<void>(range_table(index, tracks, 5, 20'000)); });
  try_to([&] { static_cast<void>(group_picture(index, definitions, kWholeRun, {8, 0}, 0, 1)); });
  try_to([&] { ask_besides_calls(index, definitions); });
  for (const FindOrder order : {FindOrder::kEarliest, FindOrder::kLatest, FindOrder::kLongest}) {
    try_to([&] {
      FindQuestion question;
      question.order = order;
      question.limit = 10;
      question.shortest = 3;
      question.tracks = tracks;
      question.regions = {1};
      if (find_calls(index, question).calls.size() > question.limit) std::abort();
    });
  }
}

}  // namespace
}  // namespace timeloom::view

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom::view;
  if (size < sizeof(Header)) return 0;
  static const timeloom::Definitions kDefinitions = small_definitions();
  const std::string bytes = with_sound_head({reinterpret_cast<const char*>(data), size});
  try_to([&] {
    auto file = file_in_memory(bytes);
    file->ignore_checks();
    ask(Index(std::move(file), 0), kDefinitions);
  });
  return 0;
}
