/// The lines that `--lines` asks for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::cli {

/// Lines from 1, both included.
struct line_range {
  std::uint64_t first = 1;
  std::uint64_t last = UINT64_MAX;
};

/// "2-5", "2-" or "2". Errors: invalid_argument.
[[nodiscard]] result<line_range> range_of(const std::string& text);

/// Passes the lines of a range on. A range in the middle of a long text costs no memory.
class line_cutter {
 public:
  explicit line_cutter(line_range range) : range_(range) {}
  /// Whether nothing that comes can be of it.
  [[nodiscard]] bool is_over() const noexcept { return line_ > range_.last; }
  [[nodiscard]] std::string pass(std::string_view piece);

 private:
  line_range range_;
  std::uint64_t line_ = 1;
};

}  // namespace hondana::cli
