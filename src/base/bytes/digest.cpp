/// A fast 128-bit digest that detects changes between two passes over the same content.
#include "base/bytes/digest.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <new>

namespace hondana::bytes {

struct digester::state {
  XXH3_state_t* hash = XXH3_createState();
  state() {
    if (hash == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(hash);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { XXH3_freeState(hash); }
};

digester::digester() : state_(std::make_unique<state>()) {}
digester::~digester() = default;
digester::digester(digester&&) noexcept = default;
digester& digester::operator=(digester&&) noexcept = default;

void digester::update(std::string_view bytes) { XXH3_128bits_update(state_->hash, bytes.data(), bytes.size()); }

digest digester::value() const {
  const auto hash = XXH3_128bits_digest(state_->hash);
  return {hash.high64, hash.low64};
}

void digester::reset() { XXH3_128bits_reset(state_->hash); }

digest digest_of(std::string_view bytes) {
  const auto hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

std::string to_hex(const digest& value) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text(32, '0');
  auto* cursor = text.data();
  for (const auto word : value) {
    for (int shift = 60; shift >= 0; shift -= 4) *cursor++ = digits[(word >> shift) & 0xF];
  }
  return text;
}

}  // namespace hondana::bytes
