/// Objects whose bytes are not those of their ids are served as nothing.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

std::string id_at_path(const made_repository& made, const std::string& revision) {
  auto id = made.git({"rev-parse", revision});
  id.pop_back();
  return id;
}

std::filesystem::path loose_file(const made_repository& made, const std::string& id) {
  return made.path() + "/.git/objects/" + id.substr(0, 2) + '/' + id.substr(2);
}

std::string bytes_in(const std::filesystem::path& file) {
  std::ifstream from(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}

/// In the place of what is there, as git does it: packs are mapped.
void put(const std::filesystem::path& file, std::string_view bytes) {
  std::filesystem::remove(file);
  std::ofstream(file, std::ios::binary) << bytes;
}

/// Nothing of an earlier one may be left, since libgit2 opens a pack once for all who read it.
git_options only(const made_repository& made) {
  git_options options;
  options.repositories = {made.path()};
  options.watch = false;
  return options;
}

/// That everything that needs the object `id` is refused by name.
void expect_refused(const served_repository& shelf, const std::string& uri, const std::string& id) {
  const auto why = shelf.error(uri);
  EXPECT_EQ(why.code, errc::source_unavailable) << uri;
  EXPECT_THAT(why.public_text, HasSubstr(id)) << uri;
  EXPECT_THAT(why.public_text, HasSubstr("git fsck")) << uri;
}

TEST(git_damaged_objects, a_loose_one_that_is_another_object_is_refused) {
  made_repository made;
  made.write("a", "what was written\n");
  made.commit("first");
  made.write("a", "what somebody made of it\n");
  made.commit("second");
  const auto good = id_at_path(made, "HEAD~1:a"), other = id_at_path(made, "HEAD:a");
  // Well-formed in itself: only its name is wrong.
  put(loose_file(made, good), bytes_in(loose_file(made, other)));
  const served_repository shelf(made);
  for (const auto* uri : {"git://shelf/blob/HEAD~1/a", "git://shelf/blob/HEAD~1/a?lines=1", "git://shelf/blame/HEAD~1/a",
                          "git://shelf/diff/HEAD~1..HEAD", "git://shelf/commit/HEAD"})
    expect_refused(shelf, uri, good);
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/a"), "what somebody made of it\n");
}

TEST(git_damaged_objects, loose_trees_and_commits_that_are_others_are_refused) {
  made_repository made;
  made.write("a", "1\n");
  const auto first = made.commit("first");
  made.write("a", "2\n");
  const auto second = made.commit("second");
  const auto tree = id_at_path(made, first + "^{tree}");
  put(loose_file(made, tree), bytes_in(loose_file(made, id_at_path(made, second + "^{tree}"))));
  const served_repository shelf(made);
  expect_refused(shelf, "git://shelf/tree/" + first, tree);
  expect_refused(shelf, "git://shelf/blob/" + first + "/a", tree);
  put(loose_file(made, first), bytes_in(loose_file(made, second)));
  const served_repository again(made);
  const auto why = again.error("git://shelf/commit/" + first);
  EXPECT_THAT(why.public_text, HasSubstr(first));
}

TEST(git_damaged_objects, every_byte_of_a_loose_blob_counts) {
  made_repository made;
  made.write("a", "what was written, line by line\n");
  made.commit("first");
  const auto id = id_at_path(made, "HEAD:a");
  const auto good = bytes_in(loose_file(made, id));
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    put(loose_file(made, id), bad);
    const served_repository shelf(made);
    const auto read = shelf.try_read("git://shelf/blob/HEAD/a");
    // Bits of the compression's header that no reader looks at change nothing; nothing else passes.
    if (read) {
      EXPECT_EQ(*std::get<shared_bytes>(read->contents.front().data), "what was written, line by line\n") << i;
    } else {
      EXPECT_THAT(read.error().public_text, HasSubstr(id)) << i;
    }
  }
  // One that ends early is not waited for.
  for (std::size_t size = 0; size < good.size(); ++size) {
    put(loose_file(made, id), good.substr(0, size));
    EXPECT_FALSE(served_repository(made).try_read("git://shelf/blob/HEAD/a")) << size;
  }
  put(loose_file(made, id), good + 'x');
  expect_refused(served_repository(made), "git://shelf/blob/HEAD/a", id);
}

/// The file of a loose object without compression (RFC 1950 and 1951): anything can be written by hand.
std::string stored(std::string_view bytes) {
  std::uint32_t low = 1, high = 0;
  for (const char c : bytes) {
    low = (low + static_cast<unsigned char>(c)) % 65'521;
    high = (high + low) % 65'521;
  }
  const auto size = static_cast<std::uint16_t>(bytes.size());
  std::string out = "\x78\x01\x01";
  for (const auto word : {size, static_cast<std::uint16_t>(~size)}) {
    out += static_cast<char>(word & 0xFFU);
    out += static_cast<char>(word >> 8U);
  }
  out += bytes;
  for (const auto word : {high, low}) {
    out += static_cast<char>(word >> 8U);
    out += static_cast<char>(word & 0xFFU);
  }
  return out;
}

TEST(git_damaged_objects, a_loose_one_of_another_length_than_it_says_is_refused_and_writes_nowhere) {
  made_repository made;
  made.write("a", "what was written\n");
  made.commit("first");
  const auto id = id_at_path(made, "HEAD:a");
  using namespace std::string_literals;
  put(loose_file(made, id), stored("blob 17\0what was written\n"s));
  EXPECT_EQ(served_repository(made).text("git://shelf/blob/HEAD/a"), "what was written\n");
  for (const auto& bytes :
       {"blob 1\0what was written\n"s, "blob 1\0"s + std::string(57, 'x'), "blob 1\0"s + std::string(5000, 'x'),
        "blob 16\0what was written\n"s, "blob 18\0what was written\n"s, "blob 0\0x"s, "blob 60000\0x"s,
        "blob 18446744073709551615\0what was written\n"s, "blob 4000000000\0what was written\n"s, "blob 17"s, ""s}) {
    put(loose_file(made, id), stored(bytes));
    const served_repository shelf(made);
    const auto why = shelf.error("git://shelf/blob/HEAD/a");
    EXPECT_THAT(why.code, AnyOf(errc::source_unavailable, errc::response_too_large)) << bytes;
    const auto history = shelf.try_read("git://shelf/blame/HEAD/a");
    EXPECT_FALSE(history) << bytes;
  }
}

TEST(git_damaged_objects, what_lies_in_a_damaged_pack_is_refused_or_right) {
  made_repository made;
  std::string text;
  for (int i = 0; i < 400; ++i) text += "line " + std::to_string(i) + '\n';
  made.write("a", text);
  made.commit("first");
  made.write("a", text + "one more\n");
  made.commit("second");
  made.git({"repack", "-a", "-d", "-q"});
  std::filesystem::path pack;
  for (const auto& one : std::filesystem::directory_iterator(made.path() + "/.git/objects/pack"))
    if (one.path().extension() == ".pack") pack = one.path();
  ASSERT_FALSE(pack.empty());
  const auto good = bytes_in(pack);
  std::size_t refused = 0;
  // Behind the header, and before the checksum at the end.
  for (std::size_t i = 12; i + 20 < good.size(); i += 7) {
    auto bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x21);
    put(pack, bad);
    const served_repository shelf(only(made));
    for (const auto& [uri, is] :
         {std::pair("git://shelf/blob/HEAD/a", text + "one more\n"), std::pair("git://shelf/blob/HEAD~1/a", text)}) {
      const auto read = shelf.try_read(uri);
      if (read) {
        EXPECT_EQ(*std::get<shared_bytes>(read->contents.front().data), is) << i;
        continue;
      }
      ++refused;
      EXPECT_THAT(read.error().code, AnyOf(errc::source_unavailable, errc::resource_not_found, errc::response_too_large)) << i;
      EXPECT_NE(read.error().public_text, "") << i;
    }
  }
  EXPECT_GT(refused, good.size() / 14);
  for (std::size_t size = 0; size < good.size(); size += 5) {
    put(pack, std::string_view(good).substr(0, size));
    EXPECT_FALSE(served_repository(only(made)).try_read("git://shelf/blob/HEAD~1/a")) << size;
  }
  put(pack, good);
  EXPECT_EQ(served_repository(only(made)).text("git://shelf/blob/HEAD~1/a"), text);
}

TEST(git_damaged_objects, an_index_of_a_pack_that_leads_to_other_objects_is_not_believed) {
  made_repository made;
  made.write("a", "what was written\n");
  made.write("b", "something else\n");
  made.commit("first");
  made.git({"repack", "-a", "-d", "-q"});
  std::filesystem::path index;
  for (const auto& one : std::filesystem::directory_iterator(made.path() + "/.git/objects/pack"))
    if (one.path().extension() == ".idx") index = one.path();
  auto bytes = bytes_in(index);
  // Version 2: 8 bytes, 256 counts, then four objects' ids, checksums and places; and two checksums at the end.
  constexpr std::size_t count = 4, ids = 8 + 256 * 4, places = ids + count * (20 + 4);
  ASSERT_EQ(bytes.size(), places + count * 4 + 40);
  for (std::size_t i = 1; i < count; ++i) bytes.replace(places + i * 4, 4, bytes, places, 4);
  put(index, bytes);
  const served_repository shelf(only(made));
  for (const auto& [uri, is] :
       {std::pair("git://shelf/blob/HEAD/a", "what was written\n"), std::pair("git://shelf/blob/HEAD/b", "something else\n")}) {
    const auto read = shelf.try_read(uri);
    if (read) {
      EXPECT_EQ(*std::get<shared_bytes>(read->contents.front().data), is);
    }
  }
  EXPECT_FALSE(shelf.try_read("git://shelf/blob/HEAD/a") && shelf.try_read("git://shelf/blob/HEAD/b"));
}

}  // namespace
}  // namespace hondana::git
