/// The index of a server, as its sources see it ask.
#pragma once

#include <string_view>

#include <hondana/provider.hpp>

namespace hondana::model {

/// Stands where peers have an address of a network, "unix" or nothing: whoever is called like the index is not taken for it.
inline constexpr std::string_view index_address = "index";

[[nodiscard]] inline caller index_caller() {
  caller out;
  out.identity = "search";
  out.address = index_address;
  return out;
}

/// Whether the index asks, be it with a view: it reads each resource as who sees that one alone.
[[nodiscard]] inline bool is_index(const caller& who) noexcept { return who.address == index_address; }

}  // namespace hondana::model
