/// The head of an HTTP request as plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::transport::http_server {

struct field {
  std::string_view name;
  std::string_view value;  ///< Without outer white space.
};

/// Views live until the parser that made them is reset.
struct request_head {
  std::string_view method;
  std::string_view target;
  std::vector<field> fields;  ///< In order of arrival; those of a trailer are dropped.
  bool is_http_1_0 = false;
  bool keep_alive = false;
  bool has_body = false;  ///< Something follows the head: a chunked body or a Content-Length above 0.
  std::optional<std::uint64_t> content_length;

  struct occurrences {
    std::size_t count = 0;
    std::string_view first;
  };
  /// How often a field occurs, and its first value. Names are compared without regard to ASCII case.
  [[nodiscard]] occurrences find(std::string_view name) const noexcept;
  /// All values of a field as one list, with commas between them; nothing when it is not there.
  [[nodiscard]] std::optional<std::string> all_of(std::string_view name) const;
};

}  // namespace hondana::transport::http_server
