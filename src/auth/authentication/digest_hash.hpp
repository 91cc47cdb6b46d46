/// Digests as keys of tables.
#pragma once

#include <cstddef>
#include <cstring>

#include "base/bytes/sha256.hpp"

namespace hondana::authentication {

/// Its first bytes are as random as any.
struct digest_hash {
  [[nodiscard]] std::size_t operator()(const bytes::sha256_bytes& of) const noexcept {
    std::size_t out = 0;
    std::memcpy(&out, of.data(), sizeof out);
    return out;
  }
};

}  // namespace hondana::authentication
