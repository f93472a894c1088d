// Group hashes as a real capture has them: names in profiler_metadata.json, digits in communication.json.
#include <catch2/catch.hpp>

#include "ext/core/group_hash.h"

TEST_CASE("group hashes of a four-rank capture") {
    CHECK(profana::group_hash("group_name_0") == "5862276093215481612");
    CHECK(profana::group_hash("group_name_5") == "5862276114690318097");
    CHECK(profana::group_hash("group_name_13") == "3985310379703952346");
    CHECK(profana::group_hash("group_name_19") == "3985310405473756128");
    CHECK(profana::group_hash("group_name_20") == "3985310491373102170");
    CHECK(profana::group_hash("") == "0");
}
