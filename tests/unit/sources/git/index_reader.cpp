/// Index files: their entries and extensions, and malformed ones.
#include "sources/git/index_reader.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

using namespace std::string_literals;

std::string number(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFFU);
  return bytes;
}

std::string entry(const std::string& path) {
  std::string bytes(40, '\0');
  bytes += std::string(20, '\1') + "\0\0"s + path;
  do bytes += '\0';
  while (bytes.size() % 8 != 0);
  return bytes;
}

std::string index_of(std::uint32_t version, std::uint32_t count, const std::string& rest) {
  return "DIRC" + number(version) + number(count) + rest + std::string(20, '\0');
}

std::string extension(const std::string& name, const std::string& content) {
  return name + number(static_cast<std::uint32_t>(content.size())) + content;
}

/// A bitmap of one word.
std::string bitmap(std::uint32_t bits, std::uint32_t low_word) {
  return number(bits) + number(2) + number(2) + number(0) + number(0) + number(low_word) + number(0);
}

std::vector<std::string> paths_of(const std::vector<raw_index_entry>& entries) {
  std::vector<std::string> paths;
  for (const auto& entry : entries) paths.push_back(entry.path);
  return paths;
}

TEST(git_index_reader, reads_what_git_writes_in_every_version) {
  made_repository made;
  for (const char* name : {"a", "dir/long name", "dir/longer name"}) made.write(name, name);
  made.commit("first");
  for (const char* version : {"2", "4"}) {
    made.git({"update-index", "--index-version", version});
    std::ifstream file(made.path() + "/.git/index", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const auto index = parse_index(bytes);
    ASSERT_TRUE(index) << version;
    EXPECT_EQ(paths_of(index->entries), (std::vector<std::string>{"a", "dir/long name", "dir/longer name"})) << version;
    EXPECT_EQ(index->entries[0].fields.mode, 0100644u);
    EXPECT_EQ(to_hex(index->entries[0].fields.id) + '\n', made.git({"rev-parse", "HEAD:a"}));
    EXPECT_FALSE(index->is_split);
  }
}

TEST(git_index_reader, joins_replaced_deleted_and_added_entries) {
  const auto shared = parse_index(index_of(2, 3, entry("a") + entry("b") + entry("c")));
  const auto split = parse_index(
      index_of(2, 2, entry("") + entry("d") + extension("link", std::string(20, '\2') + bitmap(3, 1) + bitmap(3, 4))));
  ASSERT_TRUE(shared && split);
  EXPECT_TRUE(split->is_split);
  EXPECT_EQ(split->deleted, std::vector<std::uint32_t>{0});
  EXPECT_EQ(split->replaced, std::vector<std::uint32_t>{2});
  const auto joined = join_split_index(*split, *shared);
  ASSERT_TRUE(joined);
  EXPECT_EQ(paths_of(*joined), (std::vector<std::string>{"b", "c", "d"}));
}

TEST(git_index_reader, rejects_malformed_indexes) {
  const auto link = [](const std::string& content) { return index_of(2, 0, extension("link", content)); };
  const std::vector<std::string> malformed{
      "",
      "DIRC",
      index_of(2, 0, "").replace(0, 4, "dirc"),
      index_of(1, 0, ""),
      index_of(5, 0, ""),
      index_of(2, 1, ""),
      index_of(2, 0xFFFFFFFF, entry("a")),
      index_of(2, 2, entry("a")),
      index_of(2, 1, std::string(62, '\0') + "no end"),
      index_of(4, 1, std::string(62, '\0') + "\x05" + "a\0"s),
      index_of(4, 1, std::string(62, '\0') + std::string(40, '\xFF') + "a\0"s),
      index_of(2, 0, extension("abcd", "")),
      index_of(2, 0, "link" + number(100) + "short"),
      link("short"),
      link(std::string(20, '\2') + number(3)),
      link(std::string(20, '\2') + number(0xFFFFFFFF) + number(0) + number(0) + bitmap(0, 0)),
      link(std::string(20, '\2') + number(3) + number(0xFFFFFFFF) + bitmap(3, 1)),
      link(std::string(20, '\2') + number(3) + number(1) + number(0xFFFFFFFF) + number(0xFFFFFFFF) + number(0) + bitmap(3, 1)),
  };
  for (std::size_t i = 0; i < malformed.size(); ++i) {
    const auto index = parse_index(malformed[i]);
    ASSERT_FALSE(index) << i;
    EXPECT_EQ(index.error().code, errc::source_unavailable) << i;
  }
}

TEST(git_index_reader, rejects_positions_that_the_shared_index_lacks) {
  const auto shared = parse_index(index_of(2, 1, entry("a")));
  ASSERT_TRUE(shared);
  raw_index split;
  split.deleted = {1};
  EXPECT_FALSE(join_split_index(split, *shared));
  split.deleted = {};
  split.replaced = {0};
  EXPECT_FALSE(join_split_index(split, *shared));
}

}  // namespace
}  // namespace hondana::git
