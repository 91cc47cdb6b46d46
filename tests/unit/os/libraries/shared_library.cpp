/// Libraries that are installed, missing, or different ones.
#include "os/libraries/shared_library.hpp"

#include <cstddef>
#include <string>

#include <gtest/gtest.h>

namespace hondana::libraries {
namespace {

struct string_functions {
  function<int (*)(const char*, const char*)> compare{"strcmp"};
  function<std::size_t (*)(const char*)> length{"strlen"};
};
struct unknown_functions {
  function<std::size_t (*)(const char*)> length{"strlen"};
  function<int (*)(const char*, const char*)> unknown{"there_is_no_such_function"};
};

constexpr optional_library missing{"libthere-is-none.so.4", "tables require", "libtables4 tables-data", "use lists",
                                   errc::unsupported};
constexpr optional_library c_library{"libc.so.6", "tables require", "libtables4"};

TEST(shared_library, functions_are_found_by_their_names_and_called) {
  const auto functions = load<string_functions>(c_library);
  ASSERT_TRUE(functions);
  EXPECT_EQ(functions->length("four"), 4U);
  EXPECT_EQ(functions->compare("a", "a"), 0);
}

TEST(shared_library, missing_one_is_named_with_packages_and_alternative) {
  const auto none = load<string_functions>(missing);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::unsupported);
  EXPECT_EQ(none.error().public_text,
            "tables require libthere-is-none.so.4, which cannot be loaded; install it with: apt-get install libtables4 "
            "tables-data; or use lists");
  EXPECT_NE(none.error().private_text.find("libthere-is-none.so.4: cannot open"), std::string::npos)
      << none.error().private_text;
}

TEST(shared_library, one_without_a_function_must_be_newer) {
  const auto other = load<unknown_functions>(c_library);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, errc::source_unavailable);
  EXPECT_EQ(other.error().public_text,
            "tables require libc.so.6, which lacks functions; install a newer version with: apt-get install libtables4");
  EXPECT_NE(other.error().private_text.find("there_is_no_such_function"), std::string::npos) << other.error().private_text;
}

TEST(shared_library, is_loaded_once) {
  const auto first = load_once<string_functions>(c_library);
  ASSERT_TRUE(first);
  EXPECT_EQ(load_once<string_functions>(c_library).value(), *first);
}

TEST(shared_library, failed_load_is_tried_again) {
  int calls = 0;
  const auto load_second_time = [&calls]() -> result<int> {
    if (++calls == 1) return fail(errc::source_unavailable, "no memory");
    return calls;
  };
  EXPECT_FALSE(make_once<int>(load_second_time));
  const auto second = make_once<int>(load_second_time);
  ASSERT_TRUE(second);
  EXPECT_EQ(**second, 2);
  EXPECT_EQ(make_once<int>(load_second_time).value(), *second);
  EXPECT_EQ(calls, 2);
}

TEST(shared_library, only_loaded_and_installed_ones_are_reported) {
  EXPECT_TRUE(is_loaded("libc.so.6"));
  EXPECT_FALSE(is_loaded(missing.soname));
  EXPECT_TRUE(check_installed(c_library));
  const auto none = check_installed(missing);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::unsupported);
}

}  // namespace
}  // namespace hondana::libraries
