// Memory for columns: pieces do not overlap, are used again across threads, and regions go back to the
// system.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <thread>

#include "ext/core/pages.h"

using namespace profana;

namespace {

struct Piece {
    char* at;
    size_t bytes;
    char mark;
};

bool holds(const Piece& piece) {
    return piece.at[0] == piece.mark && piece.at[piece.bytes / 2] == piece.mark &&
           piece.at[piece.bytes - 1] == piece.mark;
}

Piece take(size_t bytes, char mark) {
    Piece piece{static_cast<char*>(take_memory(bytes)), bytes, mark};
    std::memset(piece.at, mark, bytes);
    return piece;
}

// Takes and gives at random; every piece keeps what was written into it.
bool churn(unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Piece> pieces;
    bool good = true;
    for (int round = 0; round < 600; ++round) {
        if (pieces.size() < 24 && random() % 2 == 0) {
            const size_t bytes = (size_t{1} << (random() % 9 + 13)) + random() % 4096;  // 8 KiB to 2 MiB
            pieces.push_back(take(bytes, static_cast<char>(random())));
        } else if (!pieces.empty()) {
            std::swap(pieces[random() % pieces.size()], pieces.back());
            good = good && holds(pieces.back());
            give_memory(pieces.back().at, pieces.back().bytes);
            pieces.pop_back();
        }
    }
    for (const Piece& piece : pieces) {
        good = good && holds(piece);
        give_memory(piece.at, piece.bytes);
    }
    return good;
}

}  // namespace

TEST_CASE("pages: pieces keep what is written into them, on several threads") {
    std::vector<char> good(4, 0);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < good.size(); ++i) threads.emplace_back([&good, i] { good[i] = churn(i + 1); });
    for (std::thread& thread : threads) thread.join();
    for (const char each : good) CHECK(each == 1);
}

TEST_CASE("pages: what is given is taken again, and empty regions go back") {
    constexpr size_t kPiece = size_t{512} << 10, kMany = 80;  // 40 MiB
    const auto fill = [&] {
        std::vector<Piece> pieces;
        for (size_t i = 0; i < kMany; ++i) pieces.push_back(take(kPiece, 'x'));
        return pieces;
    };
    std::vector<Piece> pieces = fill();
    const size_t full = memory_from_system();
    for (const Piece& piece : pieces) std::thread([&] { give_memory(piece.at, piece.bytes); }).join();
    const size_t after = memory_from_system();
    pieces = fill();
    CHECK(memory_from_system() == full);
    for (const Piece& piece : pieces) give_memory(piece.at, piece.bytes);
    if (full > 0) {  // else a sanitizer's build, where each piece is plain memory
        CHECK(full >= kMany * kPiece);
        CHECK(after + kMany * kPiece / 2 <= full);
    }
}

TEST_CASE("pages: a vector grows over all sizes of pieces") {
    PageVector<uint64_t> values;
    for (uint64_t i = 0; i < 1'000'000; ++i) values.push_back(i * i);
    CHECK(values[31] == 961);
    CHECK(values[999'999] == 999'999ull * 999'999ull);
}

TEST_CASE("pages: a large piece given back serves the next one, up to a limit") {
    constexpr size_t kLarge = size_t{48} << 20;
    const Piece first = take(kLarge, 'a');
    const size_t before = memory_from_system();
    give_memory(first.at, first.bytes);
    if (before == 0) return;  // a sanitizer's build, where each piece is plain memory
    const size_t kept = memory_from_system();
    const Piece smaller = take(kLarge / 2, 'b');  // the rest goes back
    CHECK(smaller.at == first.at);
    CHECK(holds(smaller));
    CHECK(memory_from_system() == kept - kLarge);
    const Piece second = take(kLarge, 'c');
    give_memory(smaller.at, smaller.bytes);
    give_memory(second.at, second.bytes);  // both would be more than is kept: the older one goes
    const Piece third = take(kLarge, 'd');
    CHECK(third.at == second.at);
    CHECK(memory_from_system() <= kept - kLarge);
    give_memory(third.at, third.bytes);
}
