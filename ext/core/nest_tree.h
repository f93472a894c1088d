// Events that nest, made into an index that answers for any moment and any event what EventStack would say.
//
// Between two ends of events nothing changes, so a few moments with their answers stand for all time. Where
// the stack needs everybody who asks in one order with the events, the index is made once from the events
// alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ext/core/by_key.h"

namespace profana {

class NestTree {
  public:
    // Events of different keys know nothing of each other. Without end it is a point: it has a parent and
    // encloses nothing.
    void add(std::string_view key, int64_t id, int64_t start, std::optional<int64_t> end);
    // Once, after the last add(). Of equal starts the event with the smaller id comes first.
    void build();

    // The event that a point at `time`, behind all that start with it, has as its parent.
    std::optional<int64_t> at(std::string_view key, int64_t time);
    // The deepest event that began before `time` and ends after it, as do all the events above it in the
    // tree.
    std::optional<int64_t> inside(std::string_view key, int64_t time);
    // The parent of an event; nullopt for a root, and where there is no such event.
    std::optional<int64_t> parent(std::string_view key, int64_t id);

  private:
    struct Event {
        int64_t id, start;
        std::optional<int64_t> end;
    };
    struct Moment {  // from `time` to the next moment
        int64_t time;
        std::optional<int64_t> at, inside;
    };
    struct Tree {
        std::vector<Event> events;                         // by start and id
        std::vector<std::pair<int64_t, int64_t>> parents;  // (id, parent) of all but roots, by id
        std::vector<Moment> moments;                       // made when first asked for
    };
    static void link(Tree& tree);
    static void find_moments(Tree& tree);
    const Moment* moment(std::string_view key, int64_t time);

    ByKey<Tree> trees_;
};

}  // namespace profana
