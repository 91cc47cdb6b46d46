/// Texts that a cache of reads has.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/bytes/prepared_content.hpp"
#include "base/json/escape.hpp"

namespace hondana::test {

/// The first content, which is not encoded.
inline const std::string& text_in(const bytes::prepared_read_result& found) {
  return *std::get<shared_bytes>(found.contents.front().data);
}

inline std::string escaped(const std::string& text) {
  std::string out;
  hondana::json::append_escaped(out, text);
  return out;
}

/// More than is copied into answers.
inline std::string big(char first, std::size_t size = 100'000) { return first + std::string(size - 1, '"'); }

}  // namespace hondana::test
