/// Takes a content as it comes, and sees to it that it is the part that was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/gdrive/drive/client.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::drive {

/// `bytes 0-99/1000`; the whole is nothing where it is `*`.
struct content_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::optional<std::uint64_t> whole{};
};
/// Nothing for what is none. Spec: RFC 9110 section 14.4.
[[nodiscard]] std::optional<content_range> content_range_in(std::string_view field) noexcept;

/// Threads: one at a time.
class content_taker {
 public:
  /// `type`: what the content is to be when it comes by a link; empty: whatever it is.
  content_taker(const content_sink& into, const std::optional<byte_range>& range, std::string type, bool is_by_link)
      : into_(into), range_(range), type_(std::move(type)), is_by_link_(is_by_link) {}

  result<void> begin(const endpoint::answer& head);
  result<void> take(std::string_view piece);
  /// After a success: nothing may have come. Errors: those of the sink; invalid_argument for a range behind the end.
  result<void> finish(const endpoint::answer& head);

  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
  [[nodiscard]] bool is_enough() const noexcept { return is_enough_; }        ///< The end of it was ours, and in order.
  [[nodiscard]] bool is_of_sink() const noexcept { return is_of_sink_; }      ///< The error was the sink's.
  [[nodiscard]] bool is_of_server() const noexcept { return is_of_server_; }  ///< The error was what came.
  [[nodiscard]] std::uint64_t passed() const noexcept { return passed_; }

 private:
  result<void> not_this(std::string_view why);

  const content_sink& into_;
  std::optional<byte_range> range_;
  std::string type_;
  bool is_by_link_;
  bool has_begun_ = false, is_enough_ = false, is_of_sink_ = false, is_of_server_ = false;
  bool is_sending_whole_ = false;        // though a part was asked for
  std::uint64_t skip_ = 0;               // of a whole content of which a part was asked for
  std::optional<std::uint64_t> left_{};  // of the part
  std::uint64_t passed_ = 0;
};

}  // namespace hondana::drive
