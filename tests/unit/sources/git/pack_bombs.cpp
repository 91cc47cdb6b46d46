/// Packs that say of themselves that they unpack to more than anybody has.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/git/libgit2.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(number >> shift & 0xFFU);
  return bytes;
}

/// Of an object in a pack: its kind and its size.
std::string packed_header(unsigned kind, std::size_t size) {
  auto byte = static_cast<unsigned>(kind << 4U | (size & 15U));
  std::string bytes;
  for (size >>= 4U; size > 0; size >>= 7U) {
    bytes += static_cast<char>(byte | 0x80U);
    byte = static_cast<unsigned>(size & 0x7FU);
  }
  return bytes + static_cast<char>(byte);
}

/// Of a difference: the sizes before and after.
std::string delta_size(std::size_t size) {
  std::string bytes;
  for (; size > 0x7F; size >>= 7U) bytes += static_cast<char>((size & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(size);
}

std::string compressed(std::string_view text) {
  std::string bytes(::compressBound(text.size()), '\0');
  auto size = static_cast<uLongf>(bytes.size());
  EXPECT_EQ(::compress(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(text.data()), text.size()),
            Z_OK);
  bytes.resize(size);
  return bytes;
}

/// So many MiB of zeros, of which each is compressed as the one before.
std::string compressed_zeros(std::size_t count) {
  const std::string zeros(mebibyte, '\0');
  std::array<Bytef, 65536> out{};
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zeros.data()));
  stream.avail_in = static_cast<uInt>(zeros.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FULL_FLUSH), Z_OK);
  const std::string one(reinterpret_cast<const char*>(out.data()), out.size() - stream.avail_out);
  ::deflateEnd(&stream);
  std::string bytes("\x78\x9c", 2);
  for (std::size_t i = 0; i < count; ++i) bytes += one;
  // Of nothing, at the end; and Adler-32 of zeros.
  return bytes + std::string("\x03\x00", 2) + big_endian(static_cast<std::uint32_t>(count * mebibyte % 65'521 << 16U | 1U));
}

std::string raw_id(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return bytes;
}

/// A pack with its index; the checksums are of nothing, and nobody asks for them.
void write_pack(const std::string& folder, std::vector<std::pair<std::string, std::string>> objects_by_id) {
  std::string pack = "PACK" + big_endian(2) + big_endian(static_cast<std::uint32_t>(objects_by_id.size()));
  std::vector<std::pair<std::string, std::uint32_t>> places;
  for (const auto& [id, bytes] : objects_by_id) {
    places.emplace_back(id, static_cast<std::uint32_t>(pack.size()));
    pack += bytes;
  }
  const std::string checksum(20, '\7');
  pack += checksum;
  std::sort(places.begin(), places.end());
  std::string index = "\xfftOc" + big_endian(2);
  for (unsigned front = 0; front < 256; ++front)
    index += big_endian(static_cast<std::uint32_t>(std::count_if(places.begin(), places.end(), [&](const auto& one) {
      return static_cast<unsigned char>(one.first.front()) <= front;
    })));
  for (const auto& [id, place] : places) index += id;
  for (std::size_t i = 0; i < places.size(); ++i) index += big_endian(0);
  for (const auto& [id, place] : places) index += big_endian(place);
  index += checksum + checksum;
  const auto name = folder + "/pack-0707070707070707070707070707070707070707";
  std::filesystem::create_directories(folder);
  std::ofstream(name + ".pack", std::ios::binary) << pack;
  std::ofstream(name + ".idx", std::ios::binary) << index;
}

/// Of a blob that a commit has as "a"; the id of the blob.
std::string commit_of_blob(const made_repository& in, std::string_view content) {
  auto id = in.git({"hash-object", "--stdin"}, content);
  id.pop_back();
  auto tree = in.git({"mktree", "--missing"}, "100644 blob " + id + "\ta\n");
  tree.pop_back();
  auto commit = in.git({"commit-tree", "-m", "bomb", tree});
  commit.pop_back();
  in.git({"update-ref", "refs/heads/main", commit});
  return raw_id(id);
}

/// The most memory that this process has had, in KiB.
std::size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      std::size_t size = 0;
      status >> size;
      return size;
    }
  ADD_FAILURE() << "the kernel does not say";
  return 0;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// A blob of five zeros as a difference to one of `count` MiB of them.
void write_bomb(const made_repository& in, std::size_t count) {
  const auto id = commit_of_blob(in, std::string_view("\0\0\0\0\0", 5));
  const auto size = count * mebibyte;
  const std::string delta = delta_size(size) + delta_size(5) + std::string("\x90\5", 2);
  const auto base_id = std::string(20, '\1');
  write_pack(in.path() + "/.git/objects/pack", {{base_id, packed_header(3, size) + compressed_zeros(count)},
                                                {id, packed_header(7, delta.size()) + base_id + compressed(delta)}});
}

TEST(git_pack_bombs, what_a_small_object_is_a_difference_to_is_not_unpacked_when_it_is_too_large) {
  made_repository made;
  write_bomb(made, 600);
  const served_repository shelf(made);
  EXPECT_NE(shelf.text("git://shelf/tree/HEAD"), "");
  forget_peak();
  const auto before = peak_memory();
  for (const auto* uri : {"git://shelf/blob/HEAD/a", "git://shelf/blame/HEAD/a", "git://shelf/commit/HEAD"}) {
    const auto read = shelf.try_read(uri);
    EXPECT_FALSE(read) << uri;
    if (!read) {
      EXPECT_EQ(read.error().code, errc::source_unavailable) << uri << ' ' << read.error().public_text;
    }
  }
  EXPECT_LT(peak_memory(), before + 100'000);
}

TEST(git_pack_bombs, one_of_a_size_that_is_served_is_read) {
  made_repository made;
  write_bomb(made, 16);
  EXPECT_EQ(served_repository(made).text("git://shelf/blob/HEAD/a"), std::string(5, '\0'));
}

TEST(git_pack_bombs, sizes_that_nothing_has_are_not_believed) {
  for (const std::size_t size : {std::size_t{1} << 40U, std::size_t{1} << 62U, max_allocation_bytes}) {
    made_repository made;
    const auto id = commit_of_blob(made, "what was written\n");
    write_pack(made.path() + "/.git/objects/pack", {{id, packed_header(3, size) + compressed("what was written\n")}});
    EXPECT_FALSE(served_repository(made).try_read("git://shelf/blob/HEAD/a")) << size;
  }
}

}  // namespace
}  // namespace hondana::git
