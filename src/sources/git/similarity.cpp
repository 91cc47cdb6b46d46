/// Measures how similar two files are, as git does to detect renames.
#include "sources/git/similarity.hpp"

#include <algorithm>
#include <bit>

namespace hondana::git {
namespace {

constexpr std::uint32_t hash_values = 107'927;
constexpr std::size_t longest_chunk = 64;

std::uint32_t hash_of(std::uint64_t state) noexcept {
  const auto high = static_cast<std::uint32_t>(state >> 32), low = static_cast<std::uint32_t>(state);
  return (high + low * 97) % hash_values;
}

}  // namespace

chunk_counter::chunk_counter() : bytes_(hash_values) {}

chunk_bag chunk_counter::count(std::string_view content, bool is_text) {
  std::vector<std::uint32_t> met;
  std::uint64_t state = 0;
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto byte = static_cast<unsigned char>(content[i]);
    if (is_text && byte == '\r' && i + 1 < content.size() && content[i + 1] == '\n') continue;
    state = std::rotl(state, 7) + (std::uint64_t{byte} << 32);
    if (++length < longest_chunk && byte != '\n') continue;
    const auto hash = hash_of(state);
    if (bytes_[hash] == 0) met.push_back(hash);
    bytes_[hash] += length;
    state = 0;
    length = 0;
  }
  std::sort(met.begin(), met.end());
  chunk_bag bag;
  bag.kinds.reserve(met.size());
  for (const auto hash : met) {
    bag.kinds.push_back({hash, bytes_[hash]});
    bytes_[hash] = 0;
  }
  return bag;
}

std::uint64_t common_bytes(const chunk_bag& before, const chunk_bag& after) noexcept {
  std::uint64_t common = 0;
  auto one = before.kinds.begin(), other = after.kinds.begin();
  while (one != before.kinds.end() && other != after.kinds.end()) {
    if (one->hash == other->hash) {
      common += std::min(one->bytes, other->bytes);
      ++one, ++other;
    } else if (one->hash < other->hash) {
      ++one;
    } else {
      ++other;
    }
  }
  return common;
}

bool may_be_similar(std::uint64_t one, std::uint64_t other, unsigned least) noexcept {
  const auto larger = std::max(one, other), smaller = std::min(one, other);
  return (larger - smaller) * whole_score <= larger * (whole_score - least);
}

unsigned score_of(std::uint64_t common, std::uint64_t before, std::uint64_t after) noexcept {
  // An empty file is similar to no other, not even to an empty one.
  if (after == 0) return 0;
  return static_cast<unsigned>(common * whole_score / std::max(before, after));
}

}  // namespace hondana::git
