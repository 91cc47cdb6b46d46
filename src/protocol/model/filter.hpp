/// Which resources a peer wants to be listed.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <hondana/resource.hpp>

namespace hondana::model {

/// All that is set must hold of an entry. What an entry does not state never holds of it.
struct resource_filter {
  std::string uri_prefix{};    ///< The canonical URI starts with these characters, be they whole segments or not.
  std::string uri_pattern{};   ///< Matches the whole canonical URI; see `ignore::glob::for_path`.
  std::string name_pattern{};  ///< Matches the whole name; see `ignore::glob::for_text`.
  std::string mime_type{};     ///< `type/subtype`, or `type/` for all of a type; in lower case, without parameters.
  std::string kind{};
  std::optional<role> audience{};
  std::optional<double> min_priority{};
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified_since{};
  std::string text{};  ///< Words, each somewhere in name, title, description or URI; ASCII letters match in either case.

  bool operator==(const resource_filter&) const = default;
};

}  // namespace hondana::model
