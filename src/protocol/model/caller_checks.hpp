/// Checks of a call and its caller: cancellation, deadline, access filters, and scopes. Also the caller that is the search
/// index.
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

/// Checks whether a call was cancelled or its deadline has passed. Sources call it between two steps of a long operation.
/// Errors: cancelled, timed_out.
[[nodiscard]] inline result<void> check_cancellation(const request_context& request) {
  if (request.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (monotonic_clock::now() > request.deadline) {
    return fail(errc::timed_out, "The deadline passed while the source was being read. Retry later.");
  }
  return {};
}

}  // namespace hondana

namespace hondana::model {

/// Whether a filter lets its caller see an entry: by URI and, if the filter uses entries, by the entry. A null filter allows
/// all.
[[nodiscard]] inline bool may_see(const access_filter* filter, const resource& entry) {
  return filter == nullptr || (filter->may_see(entry.uri) && (!filter->uses_entries() || filter->may_see_entry(entry)));
}

/// Whether a filter lets its caller read the resource of an entry, decided like `may_see`.
[[nodiscard]] inline bool may_read(const access_filter* filter, const resource& entry) {
  return filter == nullptr || (filter->may_read(entry.uri) && (!filter->uses_entries() || filter->may_read_entry(entry)));
}

/// `caller_info::address` of the search index, which distinguishes it from other callers named "search".
/// Other callers have a network address, "unix" or an empty address.
inline constexpr std::string_view index_address = "index";

/// The search index as a caller, without an access filter.
[[nodiscard]] inline caller_info index_caller() {
  caller_info out;
  out.identity = "search";
  out.address = index_address;
  return out;
}

/// Whether the search index is the caller, with or without an access filter.
[[nodiscard]] inline bool is_index(const caller_info& caller) noexcept { return caller.address == index_address; }

inline constexpr std::size_t max_scope_bytes = 256;

/// Whether `text` is a valid scope: 1 to 256 visible ASCII characters without quotation marks and backslashes.
/// Spec: RFC 6749 section 3.3.
[[nodiscard]] inline bool is_scope(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_scope_bytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

/// Joins words with single spaces, the OAuth syntax of scope lists.
[[nodiscard]] inline std::string join_words(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace hondana::model
