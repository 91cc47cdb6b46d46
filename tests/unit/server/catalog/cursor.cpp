/// Cursors: what is read back, and everything that is not.
#include "server/catalog/cursor.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/json/base64.hpp"
#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using catalog::cursor_scope;
using catalog::read_cursor;
using catalog::write_cursor;

const std::uint64_t scope = cursor_scope("resources", "", nullptr);

void expect_refused(const std::string& cursor, std::uint64_t under = scope) {
  const auto key = read_cursor(cursor, under);
  ASSERT_FALSE(key) << cursor.substr(0, 80);
  EXPECT_EQ(key.error().code, errc::invalid_argument);
  EXPECT_TRUE(key.error().public_text.starts_with("cursor:"));
}

TEST(cursor, carries_its_key) {
  for (const std::string key : {"a", "file:///root/a%20b?x", "memo:///{id}"})
    EXPECT_EQ(read_cursor(write_cursor(scope, key), scope), key);
  const std::string longest(16 * 1024, 'k');
  EXPECT_EQ(read_cursor(write_cursor(scope, longest), scope), longest);
}

TEST(cursor, hides_its_key_from_all_but_its_sealer) {
  const auto by = seal::sealer::with_key(std::string(32, 'k')).value();
  const auto cursor = write_cursor(scope, "file:///secret", by.get());
  EXPECT_EQ(read_cursor(cursor, scope, by.get()), "file:///secret");
  EXPECT_EQ(json::decode_base64url(cursor)->find("file"), std::string::npos);
  const std::string longest(16 * 1024, 'k');
  EXPECT_EQ(read_cursor(write_cursor(scope, longest, by.get()), scope, by.get()), longest);
  expect_refused(cursor);
  EXPECT_FALSE(read_cursor(cursor, scope + 1, by.get()));
  EXPECT_FALSE(read_cursor(write_cursor(scope, "file:///secret"), scope, by.get()));
}

TEST(cursor, is_written_in_url_safe_characters) {
  const auto cursor = write_cursor(scope, "file:///?>~?>~?>~?>~\xFB\xFF");
  EXPECT_EQ(cursor.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), std::string::npos);
}

TEST(cursor, of_nothing_garbage_or_another_version_is_refused) {
  expect_refused("");
  expect_refused("*");
  expect_refused("AAAA");
  expect_refused(std::string("\0\0\0\0", 4));
  expect_refused(write_cursor(scope, "file:///a") + "=");
  expect_refused(write_cursor(scope, "file:///a") + "A");
  auto bytes = *json::decode_base64url(write_cursor(scope, "file:///a"));
  bytes[0] = 2;
  expect_refused(json::encode_base64url(bytes));
}

TEST(cursor, without_a_key_or_with_an_overlong_or_unprintable_one_is_refused) {
  expect_refused(write_cursor(scope, ""));
  expect_refused(write_cursor(scope, std::string(16 * 1024 + 1, 'k')));
  expect_refused(std::string(1 << 20, 'A'));
  expect_refused(write_cursor(scope, std::string("file:///\0", 9)));
  expect_refused(write_cursor(scope, "file:///a b"));
  expect_refused(write_cursor(scope, "file:///\x7F"));
}

TEST(cursor, belongs_to_its_list_filter_and_view) {
  const test::hiding_view zero(0, [](auto) { return false; });
  const test::hiding_view one(1, [](auto) { return false; });
  const auto through_one = cursor_scope("resources", "", &one);
  for (const auto other : {cursor_scope("templates", "", nullptr), cursor_scope("resources", "f", nullptr),
                           cursor_scope("resource", "s", nullptr), cursor_scope("resources", "", &zero), through_one}) {
    EXPECT_NE(other, scope);
    expect_refused(write_cursor(other, "file:///a"));
  }
  EXPECT_NE(through_one, cursor_scope("resources", "", &zero));
  EXPECT_EQ(through_one, cursor_scope("resources", "", &one));
}

}  // namespace
