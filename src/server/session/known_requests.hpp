/// Reads and lists that came before, decoded, and what reads were answered with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes/prepare.hpp"
#include "base/executor/posted.hpp"
#include "protocol/model/answers.hpp"
#include "protocol/model/operation.hpp"
#include "protocol/rpc/facts.hpp"
#include "protocol/wire/codec.hpp"

namespace hondana::session {

/// A message around its id.
struct cut_message {
  std::string_view before;
  std::string_view after;
  std::int64_t id = 0;
};

/// Cuts a message at its id where that is a plain number that stands second, behind "jsonrpc", or last. Nothing: it stands
/// elsewhere, or it takes a parser to tell. Of two messages that are equal but for what was cut, when one is a request of that
/// id, the other is the same request of another.
[[nodiscard]] std::optional<cut_message> cut_id(std::string_view message) noexcept;

/// What a request means, as its decoder said.
struct decoded_request {
  const wire::codec* codec = nullptr;  ///< Of the revision; not yet of the dialect.
  std::string method;
  model::request what;
};

/// The result of an answer, written.
struct written_result {
  std::shared_ptr<const bytes::prepared_reading> of;
  model::cache_hint cache;
  model::self_description by;
  std::string text;
};

/// Most peers ask for the same few resources again and again: what their requests mean is decoded once, and what they are
/// answered with is encoded once, as long as it is the same.
///
/// Nothing is decided here: whoever finds a request here admits it and reads as if it had decoded it itself, and what is
/// written is sent only for the very reading that it was made of. So it may be shared by all peers: a request is found by
/// everything that decoding looks at. Bounds: `places` messages of `longest_message` bytes, with what is looked at of their
/// headers, and results of `longest_result` bytes, the last of each place. Threads: any.
class known_requests {
 public:
  static constexpr std::size_t places = 256;
  static constexpr std::size_t longest_message = 2048;
  static constexpr std::size_t longest_result = 8192;

  struct entry {
    std::string before;
    std::string after;
    std::optional<rpc::http_headers> headers;  // as far as decoding looks at them
    const wire::codec* settled = nullptr;
    std::shared_ptr<const decoded_request> meaning;
    std::shared_ptr<const written_result> answer;  // null: none yet
  };
  using found = std::shared_ptr<const entry>;

  /// `settled`: what the peer has settled. Null: it is not known.
  [[nodiscard]] found find(const cut_message& what, const rpc::facts& facts, const wire::codec* settled) const;
  /// Keeps what a request, of a message by itself, was decoded to. Does nothing for what is too long.
  void keep(const cut_message& what, const rpc::facts& facts, const wire::codec* settled, const wire::codec& codec,
            std::string_view method, const model::request& meaning);
  /// Keeps what it was answered with now.
  void keep_answer(const found& of, written_result answer);

 private:
  [[nodiscard]] static std::size_t place_of(std::string_view before, std::string_view after) noexcept;
  void put(found what);

  executor::posted<entry, places> all_;
};

}  // namespace hondana::session
