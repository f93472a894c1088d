// Times, lengths and sizes that a capture can have. What is beyond was never written (an end of 0, mostly) or
// is damaged: it counts as unknown, and so sums and differences of what is left stay within 64 bits.
// INT64_MIN is the store's NULL.
#pragma once

#include <cstdint>

namespace profana {

constexpr int64_t kFarthestNs = int64_t{1} << 62;  // from 1970: the year 2116
constexpr int64_t kLongestNs = int64_t{1} << 55;   // 417 days
constexpr int64_t kMostBytes = int64_t{1} << 55;   // 32 PiB

// NULL is no time, no length and no size.
inline bool is_time(int64_t ns) {
    return ns >= -kFarthestNs && ns <= kFarthestNs;
}
inline bool is_length(int64_t ns) {
    return ns >= -kLongestNs && ns <= kLongestNs;
}
inline bool is_size(int64_t bytes) {
    return bytes >= -kMostBytes && bytes <= kMostBytes;
}

// end - start; NULL where either is NULL or that is no length.
inline int64_t duration_ns(int64_t start, int64_t end) {
    return is_time(start) && is_time(end) && is_length(end - start) ? end - start : INT64_MIN;
}

// a + b, as a time behind another; NULL where either is NULL or that is no time.
inline int64_t sum_ns(int64_t a, int64_t b) {
    int64_t sum = 0;
    return a != INT64_MIN && b != INT64_MIN && !__builtin_add_overflow(a, b, &sum) && is_time(sum)
               ? sum
               : INT64_MIN;
}

// What stands in a file as start and end. Of two that are too far apart the one before 1970 is unknown, or
// else the end.
struct Span {
    int64_t start, end;
    bool operator==(const Span&) const = default;
};
inline Span plausible(Span span) {
    const bool starts = is_time(span.start), ends = is_time(span.end);
    if (starts && ends && !is_length(span.end - span.start)) {
        if (span.start > 0 || span.end <= 0)
            span.end = INT64_MIN;
        else
            span.start = INT64_MIN;
    }
    return {starts ? span.start : INT64_MIN, ends ? span.end : INT64_MIN};
}

}  // namespace profana
