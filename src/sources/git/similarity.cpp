/// Measures how similar two files are, as git does to detect renames.
#include "sources/git/similarity.hpp"

#include <algorithm>
#include <bit>

namespace hondana::git {
namespace {

constexpr std::uint32_t hash_base = 107'927;
constexpr std::size_t max_chunk_bytes = 64;

std::uint32_t hash_of(std::uint64_t state) noexcept {
  const auto high = static_cast<std::uint32_t>(state >> 32), low = static_cast<std::uint32_t>(state);
  return (high + low * 97) % hash_base;
}

}  // namespace

chunk_counter::chunk_counter() : bytes_(hash_base) {}

chunk_bag chunk_counter::count(std::string_view content, bool is_text) {
  std::vector<std::uint32_t> used_hashes;
  std::uint64_t state = 0;
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto byte = static_cast<unsigned char>(content[i]);
    if (is_text && byte == '\r' && i + 1 < content.size() && content[i + 1] == '\n') continue;
    state = std::rotl(state, 7) + (std::uint64_t{byte} << 32);
    if (++length < max_chunk_bytes && byte != '\n') continue;
    const auto hash = hash_of(state);
    if (bytes_[hash] == 0) used_hashes.push_back(hash);
    bytes_[hash] += length;
    state = 0;
    length = 0;
  }
  std::sort(used_hashes.begin(), used_hashes.end());
  chunk_bag bag;
  bag.entries.reserve(used_hashes.size());
  for (const auto hash : used_hashes) {
    bag.entries.push_back({hash, bytes_[hash]});
    bytes_[hash] = 0;
  }
  return bag;
}

std::uint64_t common_bytes(const chunk_bag& old_bag, const chunk_bag& new_bag) noexcept {
  std::uint64_t common = 0;
  auto left = old_bag.entries.begin(), right = new_bag.entries.begin();
  while (left != old_bag.entries.end() && right != new_bag.entries.end()) {
    if (left->hash == right->hash) {
      common += std::min(left->bytes, right->bytes);
      ++left, ++right;
    } else if (left->hash < right->hash) {
      ++left;
    } else {
      ++right;
    }
  }
  return common;
}

bool may_be_similar(std::uint64_t left, std::uint64_t right, unsigned min_score) noexcept {
  const auto larger = std::max(left, right), smaller = std::min(left, right);
  return (larger - smaller) * max_score <= larger * (max_score - min_score);
}

unsigned score_of(std::uint64_t common, std::uint64_t old_size, std::uint64_t new_size) noexcept {
  // An empty file is similar to no other, not even to an empty one.
  if (new_size == 0) return 0;
  return static_cast<unsigned>(common * max_score / std::max(old_size, new_size));
}

}  // namespace hondana::git
