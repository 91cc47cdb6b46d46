/// Takes one JSON message in pieces, and hands the content in it on as it comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "base/json/base64.hpp"
#include "base/json/scanner.hpp"
#include "protocol/channel/channel.hpp"

namespace hondana::channel {

/// With a sink, the strings `result.contents[N].text` and `.blob` go there, decoded, each call with at most 64 KiB or what one
/// piece held; text in well-formed pieces. Everything else is kept, up to `limits::message_bytes`. Without a sink all is kept.
///
/// What is kept may still be no JSON: structure and strings were checked, numbers, literals and its UTF-8 were not.
/// Errors: broken_protocol for what cannot be JSON or content, response_too_large with the limit's name, and the sink's own.
/// Threads: one at a time.
class message_intake {
 public:
  message_intake(const limits& most, content_sink sink);

  /// A failure is final: what is fed then is only looked through for the id.
  result<void> feed(std::string_view piece);
  /// The whole message, with "" in place of what went to the sink. Afterwards only `id` and `reset` are of use.
  [[nodiscard]] result<std::string> finish();
  /// The id of the message as JSON text, once it has come whole, also of a message that failed. Nothing for one longer than
  /// 256 bytes; the first where there are several.
  [[nodiscard]] std::optional<std::string> id() const;
  /// Whether the message names a method, as far as it has come: then it is no answer, and its id is its sender's own.
  [[nodiscard]] bool has_method() const noexcept { return has_method_; }
  /// Whether it is an array, as far as it has come: a batch, none of whose messages' content goes to the sink.
  [[nodiscard]] bool is_array() const noexcept { return scanner_.is_array(0); }
  /// What follows is neither kept nor handed on, only looked through: for the id, a method, and whether it can be JSON.
  void only_look();
  /// For the next message, with the same sink.
  void reset();

 private:
  void take(const json::scanner::part& part, const char*& kept_from);
  void look_for_id(const json::scanner::part& part);
  [[nodiscard]] bool is_content() const noexcept;
  void begin_content();
  void add_content(std::string_view decoded);
  void add_blob(std::string_view characters);
  void end_content();
  void hand_on(std::string_view text);
  void give(std::string_view bytes);
  void keep(const char* from, const char* end);
  void fail_with(failure why);

  limits most_;
  content_sink sink_;
  json::scanner scanner_;
  std::string kept_;
  std::optional<failure> failure_;
  bool is_malformed_ = false;
  bool only_looks_ = false;
  bool has_method_ = false;

  enum class id_state : std::uint8_t { unseen, coming, seen, unusable };
  id_state id_state_ = id_state::unseen;
  std::string id_;

  bool is_in_content_ = false;
  bool is_blob_ = false;
  std::size_t item_ = 0;
  std::optional<std::size_t> begun_item_;
  std::uint64_t given_ = 0;
  std::string decoded_;  // not handed on yet; between pieces at most 3 bytes
  json::base64_stream base64_;
};

}  // namespace hondana::channel
