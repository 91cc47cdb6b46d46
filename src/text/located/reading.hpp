/// What the readers of all formats share: places, errors, remarks, and how much has been read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "text/located/format.hpp"
#include "text/located/node.hpp"

namespace hondana::located {

/// The reading of one text. Threads: one at a time.
class reading {
 public:
  /// No more remarks than these are kept; the last of them says so.
  static constexpr std::size_t most_remarks = 100;

  reading(std::string_view text, const limits& most);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] const limits& most() const noexcept { return most_; }

  /// Lines end with LF or CR LF.
  [[nodiscard]] std::uint32_t line_of(std::size_t offset) const noexcept;
  /// Where the line of that number, from 1, begins; the end of the text when it has no such line.
  [[nodiscard]] std::size_t begin_of_line(std::size_t line) const noexcept;
  [[nodiscard]] place at(std::size_t begin, std::size_t end) const noexcept;

  /// "line 3: WHAT".
  [[nodiscard]] tl::unexpected<failure> wrong(std::size_t offset, std::string_view what) const;
  [[nodiscard]] tl::unexpected<failure> wrong_in_line(std::size_t line, std::string_view what) const;
  /// response_too_large, "line N: more than ...", for the line of an offset.
  [[nodiscard]] tl::unexpected<failure> too_many(std::size_t offset, std::string_view what) const;
  [[nodiscard]] tl::unexpected<failure> too_deep(std::size_t offset) const;
  void remark(std::size_t offset, std::string_view what);
  void remark_duplicate(std::size_t offset, std::string_view key);

  /// Counts values, and the bytes of texts that aliases repeat. Errors: response_too_large.
  [[nodiscard]] result<void> count(std::size_t offset, std::size_t values = 1);
  [[nodiscard]] result<void> count_repeated(std::size_t offset, std::size_t bytes);

  [[nodiscard]] std::vector<std::string> take_remarks() { return std::move(remarks_); }

 private:
  std::string_view text_;
  const limits& most_;
  std::vector<std::size_t> lines_;  // where they begin
  std::vector<std::string> remarks_;
  std::size_t values_ = 0;
  std::size_t repeated_ = 0;
};

/// A key as messages name it: in quotes, or "a key" where it is long, does not print or may be a secret.
[[nodiscard]] std::string shown(std::string_view key);

/// The readers, one a format. The text is UTF-8 without a byte order mark and without NUL, but for properties also Latin-1.
[[nodiscard]] result<node> read_toml(reading& from);
[[nodiscard]] result<node> read_yaml(reading& from);
[[nodiscard]] result<node> read_json(reading& from);
[[nodiscard]] result<node> read_ini(reading& from);
[[nodiscard]] result<node> read_dotenv(reading& from);
[[nodiscard]] result<node> read_properties(reading& from);
[[nodiscard]] result<node> read_systemd(reading& from);

}  // namespace hondana::located
