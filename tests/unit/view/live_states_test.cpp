// The states of a run that is still recorded, and the requests for them.
#include "view/answers/live_states.hpp"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "support/one_location.hpp"
#include "view/index/stored_index.hpp"
#include "view/server/request_handler.hpp"

namespace timeloom::view {
namespace {

using namespace std::chrono_literals;
using Stage = LiveStates::Stage;

class Calls : public test::OneLocation {
 public:
  explicit Calls(unsigned count) {
    definitions_.regions.emplace_back();
    for (unsigned i = 0; i < count; ++i) {
      events_.push_back({Timestamp{2 * i}, EventKind::kEnter, 0, 0});
      events_.push_back({Timestamp{2 * i + 1}, EventKind::kLeave, 0, 0});
    }
  }
};

class LiveStatesTest : public ::testing::Test {
 protected:
  // A state with that many calls.
  std::shared_ptr<const Content> state(unsigned calls) {
    Calls run(calls);
    Progress progress;
    auto content = std::make_shared<Content>(
        definitions_, [](const Index* index) { return std::to_string(index->events()); });
    content->set_index(make_passing_index(run, progress, 1, nullptr));
    return content;
  }
  void put(unsigned calls, Stage stage = Stage::kRunning) {
    states_.put(state(calls), stage, now_, now_ + 100ms);
  }
  Answer ask(const std::string& question, const std::string& body = {}) const {
    const std::string target = "/api/" + question;
    Request request;
    request.method = "POST";
    request.target = target;
    request.host = "localhost";
    request.token = access_.token;
    request.body = body;
    return handler_.handle(request);
  }
  nlohmann::json described(LiveStates::Clock::duration later = 0s) const {
    return nlohmann::json::parse(states_.describe(now_ + later));
  }

  Definitions definitions_;
  LiveStates states_;
  const LiveStates::Clock::time_point now_ = LiveStates::Clock::now();
  const Access access_{"token", {}};
  const RequestHandler handler_{states_, access_, "page"};
};

TEST_F(LiveStatesTest, TheNewestStatesAreKept) {
  EXPECT_EQ(states_.at(0), nullptr);
  for (const unsigned calls : {1u, 2u, 3u, 4u}) put(calls);
  EXPECT_EQ(states_.at(1), nullptr);
  for (const std::uint64_t number : {2, 3, 4}) {
    EXPECT_EQ(states_.at(number)->index()->events(), 2 * number);
  }
  EXPECT_EQ(states_.at(5), nullptr);
}

TEST_F(LiveStatesTest, TheDescriptionHasTheNumberTheStageAndTheAge) {
  EXPECT_EQ(described()["stage"], "reading");
  EXPECT_EQ(described()["state"], 0);
  put(1);
  EXPECT_EQ(described()["stage"], "running");
  EXPECT_EQ(described(3s)["age"], 3.0);
  EXPECT_EQ(described()["look"], 0.1);
  states_.tell(Stage::kLost, "it is gone");
  EXPECT_EQ(described()["state"], 1);
  EXPECT_EQ(described()["stage"], "lost");
  EXPECT_EQ(described()["message"], "it is gone");
  put(2, Stage::kWoven);
  EXPECT_EQ(described()["stage"], "woven");
  EXPECT_EQ(described()["message"], "");
}

TEST_F(LiveStatesTest, OlderStatesGoIfSpaceIsShort) {
  states_.drop_older();
  for (const unsigned calls : {1u, 2u, 3u}) put(calls);
  states_.drop_older();
  EXPECT_EQ(states_.at(2), nullptr);
  ASSERT_NE(states_.at(3), nullptr);
  put(4);
  EXPECT_NE(states_.at(3), nullptr);
  EXPECT_NE(states_.at(4), nullptr);
}

TEST_F(LiveStatesTest, AWatcherIsOneWhoAsks) {
  EXPECT_GE(states_.unwatched(LiveStates::Clock::now() + 9s), 9s);
  (void)described(5s);
  EXPECT_EQ(states_.unwatched(now_ + 7s), 2s);
}

TEST_F(LiveStatesTest, RequestsNameAState) {
  for (const unsigned calls : {1u, 2u, 3u, 4u}) put(calls);
  EXPECT_EQ(ask("runs").body, "{\"runs\": 1, \"live\": true}");
  EXPECT_EQ(ask("live").status, 200u);
  EXPECT_EQ(ask("live", "x").status, 400u);
  EXPECT_EQ(ask("@4/run").body, "8");
  EXPECT_EQ(ask("@2/run").body, "4");
  for (const char* gone : {"@1/run", "@0/run", "@5/run", "@18446744073709551615/run"}) {
    EXPECT_EQ(ask(gone).status, 410u) << gone;
  }
  for (const char* wrong : {"run", "@4", "@/run", "@x/run", "@4x/run", "@-1/run", "@4/what",
                            "2/run", "@18446744073709551616/run"}) {
    EXPECT_EQ(ask(wrong).status, 404u) << wrong;
  }
}

}  // namespace
}  // namespace timeloom::view
