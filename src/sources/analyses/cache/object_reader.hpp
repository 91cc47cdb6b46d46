/// Reads a JSON object member by member, with errors that name the place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "sources/analyses/cache/analysis.hpp"

namespace hondana::analyses {

/// The first thing that is wrong with an object; what is read after it does not matter.
class fault {
 public:
  /// `may_be_alike`: names that have to differ may be the same, as masks of secrets make them.
  explicit fault(bool may_be_alike = false) noexcept : may_be_alike_(may_be_alike) {}

  [[nodiscard]] bool may_be_alike() const noexcept { return may_be_alike_; }
  void say(std::string what) {
    if (!what_) what_ = std::move(what);
  }
  [[nodiscard]] bool is_there() const noexcept { return what_.has_value(); }
  [[nodiscard]] tl::unexpected<failure> error() const { return fail(errc::invalid_argument, what_.value_or(std::string())); }

 private:
  std::optional<std::string> what_{};
  bool may_be_alike_;
};

/// How long a text may be, and what it may hold.
struct text_rule {
  std::size_t most = 0;     ///< Bytes.
  bool is_one_line = true;  ///< Without control characters, and of at least one character.
};

/// One object. Members that are not named are refused at once. What is missing and need not be there is empty, 0 or nothing.
class members {
 public:
  /// `from` and `to` outlive it.
  members(const value& from, std::string path, fault& to, std::initializer_list<std::string_view> named);

  [[nodiscard]] std::string text(std::string_view name, const text_rule& by, bool is_required = false);
  /// From 0 to 1.
  [[nodiscard]] double share(std::string_view name, bool is_required = false);
  /// From 0 on.
  [[nodiscard]] double amount(std::string_view name);
  [[nodiscard]] std::int64_t count(std::string_view name, std::int64_t least, std::int64_t most, std::int64_t otherwise);
  [[nodiscard]] std::optional<instant> time(std::string_view name);
  /// Null: it is not there.
  [[nodiscard]] const value* object(std::string_view name);
  /// The elements of an array, at most `most`; null: none.
  [[nodiscard]] const value::array* array(std::string_view name, std::size_t most);

  [[nodiscard]] std::string path_of(std::string_view name) const;
  [[nodiscard]] std::string path_of(std::string_view name, std::size_t index) const;
  void refuse(std::string_view name, const std::string& what) { to_.say(path_of(name) + ": " + what); }

 private:
  [[nodiscard]] const value* find(std::string_view name, bool is_required);
  [[nodiscard]] std::optional<double> number(std::string_view name, bool is_required, std::string_view range);

  const value::object* all_ = nullptr;
  std::string path_;
  fault& to_;
};

/// A text that stands by itself, as in an array.
[[nodiscard]] std::string text_of(const value& from, const std::string& path, const text_rule& by, fault& to);

}  // namespace hondana::analyses
