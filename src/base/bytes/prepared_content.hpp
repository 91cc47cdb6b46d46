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

/// Detects whether content that is added in pieces is text or a blob. Text is well-formed UTF-8 without NUL.
class content_kind_detector {
 public:
  void feed(std::string_view piece);
  /// The kind of the content if it is complete: `text` or `blob`.
  [[nodiscard]] content_kind value() const noexcept;

 private:
  json::utf8_stream utf8_;
  bool binary_ = false;
};

/// Returns `text` for well-formed UTF-8 without NUL, otherwise `blob`.
[[nodiscard]] content_kind content_kind_of(std::string_view bytes) noexcept;

/// Content that is read again while it is sent. The sender must check that it still has the same digest.
struct verified_stream {
  std::shared_ptr<byte_reader> reader;  ///< At the start of the content.
  digest expected_digest{};             ///< Of the content when `prepare_content` read it.
};

/// Cached content as it occurs in JSON: escaped text or base64, without quotation marks. All codecs write it the same way.
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
  std::variant<shared_bytes, verified_stream, encoded_content> data;  ///< `encoded_content`: only from the read cache.
  hondana::metadata metadata{};
};

/// A read result that is ready to be sent.
struct prepared_read_result {
  std::vector<prepared_content> contents;
  std::string version;
  std::chrono::milliseconds ttl{0};
  bool is_racy = false;                                ///< As in `read_result::is_racy`.
  std::shared_ptr<const cache_validator> validator{};  ///< As in `read_result::validator`.
};

/// Determines the kind of each content. Reads streamed contents once for their kind and digest, and reports this progress in
/// bytes.
///
/// - A content without a URI gets `request.requested_uri`.
/// - A content declared as text that has a NUL or ill-formed UTF-8 becomes a blob. `is_validated` skips this check of contents
///   in memory.
/// - A MIME type that the bytes contradict is replaced (`effective_media_type`).
/// - A content that a browser would execute gets the metadata `active_content_key`.
///
/// Errors, in addition to those of readers:
/// - response_too_large: the contents together have more than `request.max_bytes` bytes.
/// - internal: there are no contents, or a reader is null.
/// - content_changed: a reader gives more or fewer bytes than its size.
/// - cancelled, timed_out: while streamed contents are read.
///
/// Threads: a pool thread of the provider.
[[nodiscard]] result<prepared_read_result> prepare_content(read_result source, const read_request& request);

/// Makes the error response_too_large. Its text names the size and the limit in bytes, and what the caller can do.
/// `has_ranges`: the resource supports `?lines=` and `?bytes=`.
[[nodiscard]] failure too_large_error(const std::string& uri, std::uint64_t size, std::uint64_t limit, bool has_ranges);

}  // namespace hondana::bytes
