/// Content blocks: what tool results, prompt messages and sampling messages are made of.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/resource.hpp>
#include <hondana/value.hpp>

namespace hondana::inline v0 {

struct text_block {
  std::string text{};
  hondana::annotations annotations{};
};

struct image_block {
  std::string bytes{};  ///< Raw; base64 is made of them on the wire.
  std::string mimeType{};
  hondana::annotations annotations{};
};

/// To peers before 2025-03-26, whose revision has no audio, a text says what was left out.
struct audio_block {
  std::string bytes{};
  std::string mimeType{};
  hondana::annotations annotations{};
};

/// Names a resource that the client may read. To peers before 2025-06-18 it is sent as a text with the URI.
struct link_block {
  resource entry{};
};

/// Carries the content of a resource along.
struct embedded_block {
  std::string uri{};
  std::string mimeType{};
  std::string bytes{};  ///< Sent as text when they are well-formed UTF-8 without NUL and `form` does not say otherwise.
  content_form form = content_form::detect;
  hondana::annotations annotations{};
  hondana::metadata metadata{};  ///< As of `content`.
};

using content_block = std::variant<text_block, image_block, audio_block, link_block, embedded_block>;

/// One message of a prompt or of a conversation to continue.
struct message {
  role from = role::user;
  content_block content{};
};

}  // namespace hondana::inline v0
