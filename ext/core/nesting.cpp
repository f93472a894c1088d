#include "ext/core/nesting.h"

#include <algorithm>

namespace profana {

namespace {

void expect_rising(std::optional<int64_t>& last, int64_t time) {
    if (last && time < *last) {
        throw Error("rows must come by rising time, but " + std::to_string(time) + " follows " +
                    std::to_string(*last) + "; order the window by it");
    }
    last = time;
}

}  // namespace

void EventStack::move_to(int64_t time) {
    expect_rising(last_time_, time);
    while (!events_.empty() && events_.back().end < time) events_.pop_back();
}

void EventStack::push(int64_t id, int64_t start, int64_t end) {
    end = std::max(start, end);
    const int64_t first_end = events_.empty() ? end : std::min(end, events_.back().first_end);
    events_.push_back({id, start, end, first_end});
}

std::optional<int64_t> EventStack::innermost() const {
    if (events_.empty()) return std::nullopt;
    return events_.back().id;
}

std::optional<int64_t> EventStack::outermost() const {
    if (events_.empty()) return std::nullopt;
    return events_.front().id;
}

std::optional<int64_t> EventStack::strictly_inside(int64_t time) const {
    // Upwards starts rise and first_end falls, so the events that qualify are the lowest ones.
    const auto end = std::partition_point(events_.begin(), events_.end(), [&](const Event& event) {
        return event.start < time && time < event.first_end;
    });
    if (end == events_.begin()) return std::nullopt;
    return std::prev(end)->id;
}

std::optional<int64_t> ContainmentStack::find(int64_t start, int64_t end) {
    if (last_start_ == start && end > last_end_) {
        throw Error("rows of equal start must come by falling end, but " + std::to_string(end) + " follows " +
                    std::to_string(last_end_));
    }
    expect_rising(last_start_, start);
    last_end_ = end;
    const auto outside = std::partition_point(events_.begin(), events_.end(),
                                              [&](const Event& event) { return event.end >= end; });
    if (outside == events_.begin()) return std::nullopt;
    return std::prev(outside)->id;
}

void ContainmentStack::push(int64_t id, int64_t end) {
    while (!events_.empty() && events_.back().end < end) events_.pop_back();
    events_.push_back({id, end});
}

std::optional<int64_t> ForwardCursor::cover(int64_t point) {
    expect_rising(last_point_, point);
    while (!ranges_.empty() && ranges_.front().end < point) ranges_.pop_front();
    if (ranges_.empty()) return std::nullopt;
    return ranges_.front().id;
}

}  // namespace profana
