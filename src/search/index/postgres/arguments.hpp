/// Values as PostgreSQL's binary protocol has them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::search {

/// The arguments of one statement, `$1` first, whose types the statement says by casts.
class arguments {
 public:
  arguments& text(std::string_view value);   ///< ::text. Without NUL.
  arguments& bytes(std::string_view value);  ///< ::bytea, and what has a binary form of its own.
  arguments& number(std::int64_t value);     ///< ::bigint
  arguments& real(double value);             ///< ::float8
  arguments& null();
  arguments& texts(std::span<const std::string> values);     ///< ::text[]
  arguments& blobs(std::span<const std::string> values);     ///< ::bytea[]
  arguments& vectors(std::span<const std::string> values);   ///< ::tsvector[]
  arguments& numbers(std::span<const std::int64_t> values);  ///< ::bigint[]

  struct value {
    std::string bytes{};
    bool is_null = false;
  };
  [[nodiscard]] const std::vector<value>& all() const noexcept { return all_; }

 private:
  std::vector<value> all_;
};

/// Big-endian, as the protocol has it. Of other lengths: 0.
[[nodiscard]] std::int64_t number_of(std::string_view bytes) noexcept;
[[nodiscard]] double real_of(std::string_view bytes) noexcept;

}  // namespace hondana::search
