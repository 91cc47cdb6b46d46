/// Checks on a call and its caller: still wanted, granted by its view, of the search index, and valid scopes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

namespace hondana {

/// For sources, between two steps of something long. Errors: cancelled, timed_out.
[[nodiscard]] inline result<void> still_wanted(const call& by) {
  if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (monotonic_clock::now() > by.deadline) {
    return fail(errc::timed_out, "The deadline passed while the source was being read. Retry later.");
  }
  return {};
}

}  // namespace hondana

namespace hondana::model {

/// Whether a view shows a resource: by its URI and, where the view looks at entries, by its entry. Null shows everything.
[[nodiscard]] inline bool may_see(const view* through, const resource& entry) {
  return through == nullptr || (through->may_see(entry.uri) && (!through->looks_at_entries() || through->may_see_entry(entry)));
}

/// The same for reading it.
[[nodiscard]] inline bool may_read(const view* through, const resource& entry) {
  return through == nullptr ||
         (through->may_read(entry.uri) && (!through->looks_at_entries() || through->may_read_entry(entry)));
}

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

inline constexpr std::size_t longest_scope = 256;

/// Visible ASCII without quotation marks and backslashes, and not endless. Spec: RFC 6749 section 3.3.
[[nodiscard]] inline bool is_scope(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_scope &&
         std::all_of(text.begin(), text.end(), [](char one) { return one > ' ' && one < '\x7f' && one != '"' && one != '\\'; });
}

/// With a space between each two, as OAuth writes them.
[[nodiscard]] inline std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& one : words) out += (out.empty() ? "" : " ") + one;
  return out;
}

}  // namespace hondana::model
