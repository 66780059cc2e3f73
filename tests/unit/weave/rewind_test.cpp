// The events that a rewind removes from a location: events as letters, in a small language.
//
//   A a   enter, leave of region A        [x ]x  start of rewind x, end that keeps
//   p     a parameter                      !x    end that discards
//   c     a thread is created              - +   recording off, on
#include "weave/rewind.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <string_view>

namespace timeloom::weave {
namespace {

Event event_of(std::string_view& text, std::uint64_t time) {
  Event event{Timestamp{time}, EventKind::kParameterInt, 0, 0};
  const char letter = text.front();
  text.remove_prefix(1);
  const auto id = [](char c) { return static_cast<std::uint32_t>(std::tolower(c)); };
  if (letter == '[' || letter == ']' || letter == '!') {
    event.kind = letter == '[' ? EventKind::kRewindBegin : EventKind::kRewindEnd;
    event.value = letter == '!' ? 1 : 0;
    event.ref = id(text.front());
    text.remove_prefix(1);
  } else if (letter == 'c') {
    event.kind = EventKind::kThreadCreate;
  } else if (letter != 'p') {
    const bool enter = std::isupper(static_cast<unsigned char>(letter)) != 0;
    event.kind = enter ? EventKind::kEnter : EventKind::kLeave;
    event.ref = id(letter);
  }
  return event;
}

std::string rewound_text(const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) {
    const char letter = static_cast<char>(event.ref);
    switch (event.kind) {
      case EventKind::kEnter: text += static_cast<char>(std::toupper(letter)); break;
      case EventKind::kLeave: text += letter; break;
      case EventKind::kThreadCreate: text += 'c'; break;
      case EventKind::kRecordingOff: text += '-'; break;
      case EventKind::kRecordingOn: text += '+'; break;
      default: text += 'p'; break;
    }
  }
  return text;
}

// In batches of `size` events; times count the events.
std::string rewound(std::string_view text, std::size_t size) {
  Rewinder rewinder;
  std::vector<Event> result, batch;
  std::uint64_t time = 0;
  const auto hand_on = [&] {
    rewinder.pass(batch);
    result.insert(result.end(), batch.begin(), batch.end());
    batch.clear();
  };
  while (!text.empty()) {
    batch.push_back(event_of(text, ++time));
    if (batch.size() == size) hand_on();
  }
  hand_on();
  const std::vector<Event> rest = rewinder.take();
  result.insert(result.end(), rest.begin(), rest.end());
  for (std::size_t i = 1; i < result.size(); ++i) EXPECT_LE(result[i - 1].time, result[i].time);
  return rewound_text(result);
}

void expect(std::string_view text, const std::string& wanted) {
  for (std::size_t size = 1; size < 6; ++size) EXPECT_EQ(rewound(text, size), wanted) << text;
}

TEST(Rewind, DiscardsOrKeeps) {
  expect("AbBa", "AbBa");
  expect("A[xBb]xDda", "ABbDda");
  expect("A[xBpb!xDda", "A-+Dda");
  expect("[x!x", "-+");
}

TEST(Rewind, Nests) {
  expect("[xA[yBb!ya]x", "A-+a");
  expect("[xA[yBb]ya!x", "-+");
  expect("[x[xAa!xBb]x", "-+Bb");
  expect("[xA[yBba!xDd]y", "-+Dd");  // y began inside and ends with x
}

TEST(Rewind, KeepsEnterAndLeaveInBalance) {
  expect("A[xaBb!xDd", "A-a+Dd");  // began inside a, ends outside
  expect("[xABb!xa", "-A+a");      // the reverse
  expect("A[xaBDd!xb", "A-aB+b");  // both
  expect("AB[xbaDEed!x", "AB-ba+");
}

TEST(Rewind, WhatOthersKnowOfStays) { expect("[xAca!x", "-c+"); }

TEST(Rewind, EndsWithoutBeginAndBeginsWithoutEnd) {
  expect("A!xa]y", "Aa");
  expect("A[xBba", "ABba");
}

TEST(Rewind, GivesUpWhatIsTooLong) {
  Rewinder rewinder;
  std::string_view begin = "[x";
  std::vector<Event> batch{event_of(begin, 1)};
  rewinder.pass(batch);
  std::size_t events = batch.size();
  for (std::size_t i = 0; i <= Rewinder::kMostHeld; i += 1024) {
    batch.assign(1024, Event{Timestamp{2}, EventKind::kParameterInt, 0, 0});
    rewinder.pass(batch);
    events += batch.size();
  }
  std::string_view end = "!x";
  batch = {event_of(end, 3)};
  rewinder.pass(batch);
  events += batch.size() + rewinder.take().size();
  EXPECT_EQ(events, Rewinder::kMostHeld + 1024);
  EXPECT_EQ(rewinder.kept(), 1u);
}

}  // namespace
}  // namespace timeloom::weave
