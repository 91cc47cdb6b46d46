/// The Redis protocol RESP 2: commands as bytes, and replies parsed from bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::analyses {

/// A reply. Spec: redis.io/docs/reference/protocol-spec.
struct reply {
  enum class kind : std::uint8_t { status, error, number, text, null, array };
  kind what = kind::null;
  std::string text{};  ///< Of a status, an error or a text.
  std::int64_t number = 0;
  std::vector<reply> all{};

  [[nodiscard]] bool is_error() const noexcept { return what == kind::error; }
  [[nodiscard]] bool is_null() const noexcept { return what == kind::null; }
  /// The element, or a null reply if there is none.
  [[nodiscard]] const reply& at(std::size_t index) const noexcept;
  /// The value of a number reply, or a text reply parsed as a number.
  [[nodiscard]] std::int64_t as_number() const noexcept;
  [[nodiscard]] double as_real() const noexcept;
};

/// Encodes a command as an array of strings.
[[nodiscard]] std::string command_of(std::span<const std::string_view> words);

/// Decodes replies from a byte stream. Threads: one at a time.
class reply_reader {
 public:
  static constexpr std::size_t longest_line = 64u << 10;
  static constexpr std::size_t longest_text = 64u << 20;
  static constexpr std::size_t most_elements = 1'000'000;  ///< Of a whole reply.
  static constexpr std::size_t most_reply = 256u << 20;    ///< Bytes of a whole reply.
  static constexpr std::size_t most_depth = 8;

  void feed(std::string_view bytes) { rest_.append(bytes); }
  /// Returns the next reply; empty if more bytes are needed. Errors: broken_protocol, permanently.
  [[nodiscard]] result<std::optional<reply>> next();

 private:
  struct open_array {
    reply made{};
    std::size_t wanted = 0;
  };
  [[nodiscard]] result<bool> take_line(std::optional<reply>& into);
  [[nodiscard]] result<bool> take_text(std::optional<reply>& into);
  /// Adds a value to the innermost open array. False: the reply is not complete yet.
  [[nodiscard]] bool add(std::optional<reply>& one);
  void passed(std::size_t bytes);

  std::string rest_{};
  std::size_t at_ = 0;                 // bytes before this are consumed
  std::size_t searched_ = 0;           // no line end was found up to this offset
  std::optional<std::size_t> text_{};  // the length of the text that follows
  std::vector<open_array> open_{};
  std::size_t elements_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace hondana::analyses
