/// Lists of another server while they come: made fit one by one, and bounded in number, memory and time.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <hondana/client_types.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/resource.hpp>
#include <hondana/skill.hpp>

#include "sources/mcp/foreign.hpp"

namespace hondana::mcp {

/// Of what one answer, or all lists of a server together, may take here.
inline constexpr std::size_t most_list_bytes = 64u << 20;
/// The longest message of a mounted server that is kept in memory. Contents of reads are streamed and do not count.
inline constexpr std::size_t most_message_bytes = 32u << 20;

/// About how many bytes one takes in memory.
[[nodiscard]] std::size_t weight_of(const resource& entry);
[[nodiscard]] std::size_t weight_of(const resource_template& entry);
[[nodiscard]] std::size_t weight_of(const skill& entry);

/// What lists that are kept together may still take. Threads: one.
struct allowance {
  using clock = monotonic_clock;
  std::size_t bytes = most_list_bytes;
  clock::time_point until = clock::time_point::max();
};

/// One list. Threads: one.
template <class T>
class gathering {
 public:
  /// `masks`: as for `make_fit`.
  gathering(std::size_t most, allowance& room, bool masks) : most_(most), room_(room), masks_(masks) {}

  /// False when it is full: there was one more.
  bool take(T one) {
    if constexpr (std::is_same_v<T, skill>) {
      make_fit(one);
    } else {
      make_fit(one, masks_);
    }
    const auto weight = weight_of(one);
    has_more_ = all_.size() == most_ || weight > room_.bytes;
    if (has_more_) return false;
    room_.bytes -= weight;
    all_.push_back(std::move(one));
    return true;
  }
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }
  /// Errors: timed_out when it should have ended by now.
  [[nodiscard]] result<void> still_in_time() const {
    if (allowance::clock::now() < room_.until) return {};
    return fail(errc::timed_out, "its list did not end in time");
  }
  [[nodiscard]] std::vector<T> taken() && { return std::move(all_); }

 private:
  const std::size_t most_;
  allowance& room_;
  const bool masks_;
  std::vector<T> all_;
  bool has_more_ = false;
};

/// Takes the items of a range that asks for its pages by itself. Errors: the range's, timed_out.
template <class T>
result<void> take_all(paged<T> from, gathering<T>& into) {
  for (const auto& one : from) {
    if (!one) return tl::unexpected(one.error());
    if (!into.take(*one)) return {};
    HONDANA_TRY(into.still_in_time());
  }
  return {};
}

}  // namespace hondana::mcp
