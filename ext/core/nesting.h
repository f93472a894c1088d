// Which events enclose which, found in one pass over the events by rising start.
//
// The cursor rule: the events that have begun form a stack. Before an event is put on it, those that ended
// before its start are taken off from the top, up to the first that has not; that one is the parent. So an
// event that starts exactly where another ends is its child, a child may outlast its parent, and an ended
// event stays while one above it is still open.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "ext/core/error.h"

namespace profana {

class EventStack {
  public:
    // Takes off what ended before `time`. Throws Error if time runs backwards.
    void move_to(int64_t time);
    void push(int64_t id, int64_t start, int64_t end);

    int64_t depth() const { return static_cast<int64_t>(events_.size()); }
    std::optional<int64_t> innermost() const;
    std::optional<int64_t> outermost() const;
    // The deepest event that began before `time` and ends after it, as do all the events below it on the
    // stack.
    std::optional<int64_t> strictly_inside(int64_t time) const;

  private:
    struct Event {
        int64_t id, start, end;
        int64_t first_end;  // the earliest end of this event and those below it
    };
    std::vector<Event> events_;
    std::optional<int64_t> last_time_;
};

// The events that may still contain others whole, for rows that come by rising start and, of equal starts, by
// falling end. Upwards in the stack starts rise and ends fall.
class ContainmentStack {
  public:
    // The innermost event that contains [start, end] whole, both ends included. Throws Error if rows come in
    // another order.
    std::optional<int64_t> find(int64_t start, int64_t end);
    // Puts an event on top. What does not contain it ends before it, and contains nothing that comes later.
    void push(int64_t id, int64_t end);

  private:
    struct Event {
        int64_t id, end;
    };
    std::vector<Event> events_;
    std::optional<int64_t> last_start_;
    int64_t last_end_ = 0;
};

// A cursor that moves only forward over ranges in the order in which they begin: a point is covered by the
// first range that had not ended before it or before any earlier point.
class ForwardCursor {
  public:
    void add_range(int64_t id, int64_t end) { ranges_.push_back({id, end}); }
    std::optional<int64_t> cover(int64_t point);

  private:
    struct Range {
        int64_t id, end;
    };
    std::deque<Range> ranges_;  // not passed yet
    std::optional<int64_t> last_point_;
};

}  // namespace profana
