/// Prepares content for sending: checks sizes, distinguishes text from blobs, and digests streamed content.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "base/bytes/digest.hpp"
#include "base/json/utf8.hpp"

namespace hondana::bytes {

/// Detects whether content is text or a blob, from bytes fed in pieces.
/// Content is text if all of it is well-formed UTF-8 without NUL.
class content_kind_detector {
 public:
  void feed(std::string_view piece);
  /// The kind of the content fed so far: `text` or `blob`.
  [[nodiscard]] content_kind value() const noexcept;

 private:
  json::utf8_stream utf8_;
  bool binary_ = false;
};

[[nodiscard]] content_kind content_kind_of(std::string_view bytes) noexcept;

/// Content that is read while it is sent. Its bytes must still have the digest of the first pass.
struct verified_stream {
  std::shared_ptr<byte_reader> reader;  ///< Positioned at the start of the content.
  digest expected_digest{};
};

/// Cached content in its JSON form: escaped text or base64, without the quotes. All codecs write it the same way.
struct encoded_content {
  shared_bytes json_text;
  std::uint64_t size = 0;  ///< Size of the original content in bytes, before encoding.
};

/// One content of a read result, whose kind (text or blob) is known.
struct prepared_content {
  std::string uri;
  std::string name;
  std::string title;
  std::string mime_type;
  bool is_text = false;
  std::variant<shared_bytes, verified_stream, encoded_content> data;  ///< `encoded_content` only for callers that accept it.
  hondana::metadata metadata{};
};

struct prepared_read_result {
  std::vector<prepared_content> contents;
  std::string version;
  std::chrono::milliseconds ttl{0};
  bool is_racy = false;                                ///< As in `read_result::is_racy`.
  std::shared_ptr<const cache_validator> validator{};  ///< As in `read_result::validator`.
};

/// Determines the kind of each content and the digest of streamed contents, which takes a first pass over them.
/// Reports progress in bytes.
///
/// - A content without a URI gets `request.requested_uri`.
/// - A content that is declared text but is not well-formed UTF-8 becomes a blob.
/// - A MIME type that the bytes contradict is replaced (`effective_media_type`).
/// - A content that a browser would execute gets the metadata entry `active_content_key`.
///
/// Errors, in addition to those of readers:
/// - response_too_large: the contents together exceed `request.max_bytes`.
/// - internal: a read result without contents.
/// - content_changed: a reader gives more or fewer bytes than its size.
/// - cancelled, timed_out.
///
/// Threads: a pool thread of the provider.
[[nodiscard]] result<prepared_read_result> prepare_content(read_result source, const read_request& request);

/// The error for content beyond the read limit. Its text names the size, the limit and what the caller can do.
/// `has_ranges`: the resource supports `?lines=` and `?bytes=`.
[[nodiscard]] failure too_large_error(const std::string& uri, std::uint64_t size, std::uint64_t limit, bool has_ranges);

}  // namespace hondana::bytes
