/// Content blocks of tool results, prompt messages and sampling messages.
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
  std::string bytes{};  ///< Raw bytes, not base64.
  std::string mime_type{};
  hondana::annotations annotations{};
};

/// A sound. Clients of revisions before 2025-03-26 get a text instead, which says what was left out.
struct audio_block {
  std::string bytes{};  ///< Raw bytes, not base64.
  std::string mime_type{};
  hondana::annotations annotations{};
};

/// Names a resource that the client can read. Clients of revisions before 2025-06-18 get a text with the URI.
struct link_block {
  resource entry{};
};

/// The content of a resource, embedded in the message.
struct embedded_block {
  std::string uri{};
  std::string mime_type{};
  std::string bytes{};  ///< Raw bytes, sent as text or blob as `kind` says.
  content_kind kind = content_kind::detect;
  hondana::annotations annotations{};
  hondana::metadata metadata{};  ///< As `resource_content::metadata`.
};

using content_block = std::variant<text_block, image_block, audio_block, link_block, embedded_block>;

/// One message of a prompt (`prompt_result`) or of a conversation (`sampling_request`).
struct message {
  chat_role role = chat_role::user;
  content_block content{};
};

}  // namespace hondana::inline v0
