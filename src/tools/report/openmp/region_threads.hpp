// The threads that ran a parallel region of OpenMP, and how evenly they worked.
//
// Plain values; used by one thread. Throws std::bad_alloc.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "core/definitions.hpp"

namespace timeloom::tools {

// The threads of one process in one call path of a parallel region. A runtime may replace threads
// between two teams, and several threads may fork a team each: then more threads have run the
// region than a team has, and they are added up by the places that they can have had in it.
struct OfPath {
  struct Thread {
    double working = 0;
    double waiting = 0;
    std::uint64_t visits = 0;
    std::uint64_t forks = 0;  // visits that forked a team, in which the thread has the first place

    // Adds `part` of the visits of another thread, and their share of its work.
    void add_part(const Thread& other, std::uint64_t part) {
      visits += part;
      working += other.working * static_cast<double>(part) / static_cast<double>(other.visits);
    }
  };
  std::map<LocationId, Thread> threads;  // in order of their creation
  std::uint64_t calls = 0;
  double time = 0;
  // Of its teams, as they were recorded; 0: they were not.
  std::uint64_t smallest = 0, largest = 0;

  void add_sizes(std::uint64_t least, std::uint64_t most) {
    if (least == 0) return;
    smallest = smallest == 0 ? least : std::min(smallest, least);
    largest = std::max(largest, most);
  }

  void add(const OfPath& other) {
    for (const auto& [location, thread] : other.threads) {
      Thread& sum = threads[location];
      sum.working += thread.working;
      sum.waiting += thread.waiting;
      sum.visits += thread.visits;
      sum.forks += thread.forks;
    }
    calls += other.calls;
    time += other.time;
    add_sizes(other.smallest, other.largest);
  }

  // Each member of a team visits the region once. Without the thread that forked: all of them, or
  // as many as the largest team had.
  double mean_team() const {
    std::uint64_t visits = 0;
    for (const auto& [location, thread] : threads) visits += thread.visits;
    const auto all = static_cast<double>(threads.size());
    const double most = largest == 0 ? all : std::min(static_cast<double>(largest), all);
    if (calls == 0) return most;
    return std::clamp(static_cast<double>(visits) / static_cast<double>(calls), 1.0, most);
  }
  // The largest one. A file may claim any size, but not more threads than there are.
  std::uint64_t team() const {
    if (largest != 0) return std::clamp<std::uint64_t>(largest, 1, threads.size());
    return static_cast<std::uint64_t>(std::ceil(mean_team()));
  }
  std::uint64_t smallest_team() const {
    return smallest != 0 ? std::min(smallest, team()) : team();
  }

  // The working time of the place in the team that works longest. A thread that forks has the first
  // place; otherwise it gets the place with the fewest visits so far.
  double longest() const {
    std::vector<Thread> places(team());
    const auto others = places.begin() + (places.size() > 1 ? 1 : 0);
    for (const auto& [location, thread] : threads) {
      if (thread.forks != 0) places.front().add_part(thread, thread.forks);
      if (thread.forks == thread.visits) continue;
      const auto place = std::ranges::min_element(others, places.end(), {}, &Thread::visits);
      place->add_part(thread, thread.visits - thread.forks);
    }
    return std::ranges::max_element(places, {}, &Thread::working)->working;
  }
};

}  // namespace timeloom::tools
