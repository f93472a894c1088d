// The unit tests' main program. Each subject is a file of its own beside this one.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
