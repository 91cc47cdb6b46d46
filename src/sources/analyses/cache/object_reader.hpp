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

/// The first error of an object. Values read after it are not used.
class fault {
 public:
  /// `may_be_alike`: names that must differ may be equal, because secrets were masked.
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

/// The length limit of a text, and its allowed characters.
struct text_rule {
  std::size_t most = 0;     ///< Bytes.
  bool is_one_line = true;  ///< No control characters, and at least one character.
};

/// Reads one object. Unknown members are rejected at once. A missing optional member is empty, 0 or null.
class members {
 public:
  /// `from` and `to` must outlive the object.
  members(const value& from, std::string path, fault& to, std::initializer_list<std::string_view> named);

  [[nodiscard]] std::string text(std::string_view name, const text_rule& by, bool is_required = false);
  /// A number from 0 to 1.
  [[nodiscard]] double share(std::string_view name, bool is_required = false);
  /// A number from 0.
  [[nodiscard]] double amount(std::string_view name);
  [[nodiscard]] std::int64_t count(std::string_view name, std::int64_t least, std::int64_t most, std::int64_t otherwise);
  [[nodiscard]] std::optional<instant> time(std::string_view name);
  /// Null if it is absent.
  [[nodiscard]] const value* object(std::string_view name);
  /// The elements of an array, at most `most`; null if it is absent.
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

/// Reads a text outside of an object, as in an array.
[[nodiscard]] std::string text_of(const value& from, const std::string& path, const text_rule& by, fault& to);

}  // namespace hondana::analyses
