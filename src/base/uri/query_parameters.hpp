/// Parses the parameters of resource URIs by tables of the known ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/uri.hpp>

namespace hondana::uri {

enum class parameter_type : std::uint8_t {
  text,     ///< UTF-8 without NUL.
  bytes,    ///< Any bytes, such as the name of a file.
  choice,   ///< One of `choices`.
  integer,  ///< Digits only, from `min` to `max`, which must be finite.
  number,   ///< Such as 7, 0.5 or 1e9, from `min` to `max`.
  range,    ///< `10-40`, `10-` or `10`, from `min` on, both ends included.
  list,     ///< Texts: separated by commas that are not escaped, in one or several parameters. At most `max` texts.
};

/// A parameter that a URI accepts: a row of a table.
struct query_parameter {
  std::string_view name{};
  parameter_type type = parameter_type::text;
  std::span<const std::string_view> choices{};
  double min = 0;  ///< Whole or infinite, like `max`.
  double max = std::numeric_limits<double>::infinity();
  std::size_t max_bytes = max_uri_bytes;  ///< Of a decoded value.
};

/// A value of the type `range`. Without `last` it extends to the end.
struct value_range {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last{};

  bool operator==(const value_range&) const = default;
};

/// The error of one parameter: "until: it is not after since."
[[nodiscard]] tl::unexpected<failure> invalid_parameter(std::string_view name, std::string_view reason);

/// The valid parameters of a query, with decoded values. A parameter with an empty value counts as absent, since the expansion
/// of a URI template can leave such ones. Has views of the query.
class query_values {
 public:
  [[nodiscard]] bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  /// The number of parameters that are present; each text of a list counts.
  [[nodiscard]] std::size_t count() const noexcept;
  /// The value of any type. Empty if it is absent. Valid as long as this object.
  [[nodiscard]] std::string_view text(std::string_view name) const noexcept;
  /// The value of the type `integer`; nullopt if it is absent. Likewise `number` and `range`.
  [[nodiscard]] std::optional<std::uint64_t> integer(std::string_view name) const noexcept;
  [[nodiscard]] std::optional<double> number(std::string_view name) const noexcept;
  [[nodiscard]] std::optional<value_range> range(std::string_view name) const noexcept;
  /// The texts of a list, in order.
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;

  /// `NAME=VALUE` as written, with at most 64 bytes of the value: how errors name a wrong value.
  [[nodiscard]] std::string label(std::string_view name) const;
  /// The error of a wrong value: "step=never: expected a duration."
  [[nodiscard]] tl::unexpected<failure> invalid(std::string_view name, std::string_view reason) const;
  /// Errors: invalid_argument if more than one of `names` is present.
  [[nodiscard]] result<void> allow_one_of(std::initializer_list<std::string_view> names) const;

 private:
  friend result<query_values> parse_query(std::optional<std::string_view>, std::span<const query_parameter>, std::string_view);
  struct entry {
    std::string_view name;
    std::string_view written;
    std::string text;  // empty: given without a value
  };

  [[nodiscard]] const entry* find(std::string_view name) const noexcept;
  result<void> add(const query_parameter& parameter, std::string_view written);
  result<void> add_text(const query_parameter& parameter, std::string_view written);

  std::vector<entry> entries_;
};

/// Parses the query of a canonical URI, without `?`, in linear time. The order of parameters is free, and names are compared as
/// written. In values, escapes are decoded, and `+` is a plus. One `&` at the end is ignored. nullopt: no parameters.
/// `subject`: the URIs that have these parameters, such as "file://".
/// Errors: invalid_argument, in this order:
/// - unknown parameter "linse"; file:// knows: lines, bytes.
/// - lines: given more than once. Give it once.
/// - grep: the value has a broken percent-escape. Or it is too long, or not UTF-8.
/// - format=xml: unknown value; known: json, markdown.
/// - limit=0: expected a whole number from 1 to 50.
[[nodiscard]] result<query_values> parse_query(std::optional<std::string_view> query, std::span<const query_parameter> known,
                                               std::string_view subject);

/// The expression for these parameters in a URI template: `{?since,until}`.
[[nodiscard]] std::string query_template(std::span<const query_parameter> known);

}  // namespace hondana::uri
