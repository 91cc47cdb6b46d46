/// The events of a YAML text, each with its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "text/located/node.hpp"
#include "text/located/reading.hpp"

namespace hondana::located {

struct yaml_event {
  enum class kind : std::uint8_t { document, scalar, list, table, end, alias };

  kind is = kind::scalar;
  bool is_plain = false;   ///< A scalar without quotes, tag and indicators of a block.
  bool is_absent = false;  ///< A scalar of which nothing is written.
  std::string text{};      ///< Of a scalar.
  std::string tag{};       ///< As it is written out, empty where there is none.
  place at{};              ///< Of lists and tables, up to their end.
  std::size_t other = 0;   ///< Of a list or a table, its end; of an alias, the event it stands for.
};

/// All documents of a text one after the other. Memory: bounded by the values that may be. Errors: invalid_argument for what is
/// no YAML, nested too deeply, and for an alias of what it stands in; response_too_large for more events than all values need.
[[nodiscard]] result<std::vector<yaml_event>> yaml_events(const reading& from);

}  // namespace hondana::located
