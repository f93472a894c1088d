// Sets of intervals as bytes and as JSON, read with every check.
#include <simdjson.h>

#include "ext/core/error.h"
#include "ext/core/interval_set.h"

namespace profana {

namespace {

constexpr std::string_view kMark = "IS\x01";  // the last byte is the version

void put_number(std::string& bytes, uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
    bytes.push_back(static_cast<char>(value));
}

// A signed number as an unsigned one, small where it is near zero: 0, -1, 1, -2, 2 ...
uint64_t zigzag(int64_t value) {
    return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
int64_t unzigzag(uint64_t value) {
    return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1)));
}

class Bytes {
  public:
    explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
    size_t left() const { return bytes_.size() - at_; }

    uint64_t number() {
        uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (at_ == bytes_.size()) refuse("the bytes end within it");
            const auto byte = static_cast<uint8_t>(bytes_[at_++]);
            if (shift == 63 && byte > 1) refuse("a number is larger than 64 bits");
            value |= static_cast<uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) {
                if (byte == 0 && shift > 0) refuse("a number is written with more bytes than it needs");
                return value;
            }
        }
        refuse("a number is larger than 64 bits");
    }

    [[noreturn]] void refuse(const std::string& why) const {
        throw Error("not a set of intervals: byte " + std::to_string(at_) + ": " + why);
    }

    void skip(size_t n) { at_ += n; }

  private:
    std::string_view bytes_;
    size_t at_ = 0;
};

// start + distance, if that is no later than the latest time.
bool advance(int64_t start, uint64_t distance, int64_t* result) {
    if (distance > static_cast<uint64_t>(INT64_MAX) - static_cast<uint64_t>(start)) return false;
    *result = static_cast<int64_t>(static_cast<uint64_t>(start) + distance);
    return true;
}

}  // namespace

std::string encode(const IntervalSet& set) {
    std::string bytes(kMark);
    put_number(bytes, set.size());
    for (size_t i = 0; i < set.size(); ++i) {
        put_number(bytes, i == 0 ? zigzag(set[i].start) : length({set[i - 1].end, set[i].start}) - 1);
        put_number(bytes, length(set[i]) - 1);
    }
    return bytes;
}

IntervalSet decode_intervals(std::string_view bytes) {
    Bytes in(bytes);
    if (bytes.substr(0, 2) != kMark.substr(0, 2)) in.refuse("it does not begin with IS");
    if (bytes.size() < 3 || bytes[2] != kMark[2]) {
        in.skip(2);
        in.refuse("only version 1 is known");
    }
    in.skip(kMark.size());

    const uint64_t count = in.number();
    if (count > in.left() / 2) in.refuse("it promises more intervals than the bytes can hold");
    IntervalSet set(count);
    for (size_t i = 0; i < count; ++i) {
        const uint64_t step = in.number();
        if (i == 0) {
            set[i].start = unzigzag(step);
        } else if (step == UINT64_MAX || !advance(set[i - 1].end, step + 1, &set[i].start)) {
            in.refuse("an interval starts after the latest time");
        }
        const uint64_t less_one = in.number();
        if (less_one == UINT64_MAX || !advance(set[i].start, less_one + 1, &set[i].end)) {
            in.refuse("an interval ends after the latest time");
        }
    }
    if (in.left() > 0) in.refuse(std::to_string(in.left()) + " bytes follow the last interval");
    return set;
}

std::string intervals_to_json(const IntervalSet& set) {
    std::string json = "[";
    for (const Interval& interval : set) {
        if (json.size() > 1) json += ',';
        json += '[' + std::to_string(interval.start) + ',' + std::to_string(interval.end) + ']';
    }
    return json + ']';
}

IntervalSet intervals_from_json(std::string_view json) {
    simdjson::dom::parser parser;
    simdjson::dom::array list;
    const auto error = parser.parse(json.data(), json.size()).get(list);
    if (error) throw Error(std::string("not a JSON array: ") + simdjson::error_message(error));
    IntervalCollector collector;
    size_t index = 0;
    for (const simdjson::dom::element item : list) {
        simdjson::dom::array pair;
        int64_t start = 0, end = 0;
        if (item.get(pair) || pair.size() != 2 || pair.at(0).get(start) || pair.at(1).get(end)) {
            throw Error("element " + std::to_string(index) +
                        " is not a pair of integers: " + excerpt(simdjson::minify(item)));
        }
        collector.add(start, end);
        ++index;
    }
    return collector.set();
}

}  // namespace profana
