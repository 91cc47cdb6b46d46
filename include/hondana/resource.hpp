/// Resources: entries of lists, templates, and contents. Members have the names of the MCP specification, in snake_case.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// A participant of a conversation: the sender of a message, or the intended audience of a resource.
enum class chat_role : std::uint8_t { user, assistant };

/// Hints for clients. Spec: server/resources#annotations.
struct annotations {
  std::vector<chat_role> audience{};  ///< Empty: not stated.
  std::optional<double> priority{};   ///< 0.0 (optional) to 1.0 (effectively required).
  /// Sent as ISO 8601 in UTC, from revision 2025-06-18 on.
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> last_modified{};

  bool operator==(const annotations&) const = default;
};

/// A picture for user interfaces. Sent from revision 2025-11-25 on.
struct icon {
  std::string src{};  ///< An https: or data: URI.
  std::string mime_type{};
  std::vector<std::string> sizes{};
  std::string theme{};  ///< "light", "dark", or empty.

  bool operator==(const icon&) const = default;
};

/// A scalar value in `resource::metadata`.
using metadata_value = std::variant<bool, std::int64_t, double, std::string>;
/// Names and values, in the order in which they are sent.
using metadata = std::vector<std::pair<std::string, metadata_value>>;

/// One entry of `resources/list`. Empty strings are sent as absent members.
struct resource {
  std::string uri{};   ///< Canonical (see `canonical_uri`).
  std::string name{};  ///< Required.
  std::string title{};
  std::string description{};
  std::string mime_type{};
  std::optional<std::uint64_t> size{};  ///< Raw bytes, before base64.
  hondana::annotations annotations{};
  std::vector<icon> icons{};
  std::string kind{};            ///< The provider's own word for the type of the resource: "file", "folder", "commit".
  std::string version{};         ///< Opaque; changes whenever the content changes. Empty: unknown.
  hondana::metadata metadata{};  ///< Provider-specific facts. Names with a prefix ("dev.example/…") are also sent in `_meta`.

  bool operator==(const resource&) const = default;
};

/// One entry of `resources/templates/list`. Empty strings are sent as absent members.
struct resource_template {
  std::string uri_template{};  ///< RFC 6570.
  std::string name{};          ///< Required.
  std::string title{};
  std::string description{};
  std::string mime_type{};
  hondana::annotations annotations{};
  std::vector<icon> icons{};

  bool operator==(const resource_template&) const = default;
};

/// Immutable bytes that several answers can share.
using shared_bytes = std::shared_ptr<const std::string>;

/// Content that is pulled in pieces, so that a read of any size needs only kilobytes of memory.
///
/// Threads: any thread of the provider's pool, never two calls at once. Calls may block.
class byte_reader {
 public:
  byte_reader() = default;
  byte_reader(const byte_reader&) = delete;
  byte_reader& operator=(const byte_reader&) = delete;
  virtual ~byte_reader() = default;

  /// The total of content bytes, fixed when the reader is created. Bytes that are appended later are not part of the read.
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills the front of `buffer` and returns the number of bytes written; 0 only at the end. Errors: content_changed if the
  /// content ends before `size()` bytes. A reader never returns a shortened content as success.
  [[nodiscard]] virtual result<std::size_t> read(std::span<char> buffer) = 0;
  /// Restarts at the first byte.
  [[nodiscard]] virtual result<void> rewind() = 0;
  /// Facts about the content that are known only after all of it has been read. They are added to `resource_content::metadata`.
  /// Default: none.
  [[nodiscard]] virtual metadata trailing_metadata() const { return {}; }
};

/// How content is sent. `detect` examines all of it: well-formed UTF-8 without NUL is sent as text, everything else as a blob.
enum class content_kind : std::uint8_t { detect, text, blob };

/// One item of the `contents` of a read.
struct resource_content {
  std::string uri{};  ///< Empty: the URI as the client spelled it.
  std::string name{};
  std::string title{};
  std::string mime_type{};
  content_kind kind = content_kind::detect;
  std::variant<shared_bytes, std::shared_ptr<byte_reader>> data{};
  hondana::metadata metadata{};  ///< Facts about these contents. Names with a prefix ("dev.example/…") are sent in `_meta`.
  /// The provider has examined all of `data`, and set `kind` to `text` or `blob` accordingly: text is well-formed UTF-8 without
  /// NUL. The server does not check again, so a wrong claim produces malformed messages.
  bool is_validated = false;
};

/// A promise about a read result or a page: while `is_valid` returns true, the same request gives the same result and need not
/// be repeated.
///
/// A provider that is notified of changes can return one with a read result. A cache that stores the contents then calls
/// `is_valid` instead of the provider. The promise covers everything that the result was made from and decided by, except the
/// caller's access filter, which is checked again each time.
///
/// Threads: any, several at once. It may outlive its provider.
class cache_validator {
 public:
  cache_validator() = default;
  cache_validator(const cache_validator&) = delete;
  cache_validator& operator=(const cache_validator&) = delete;
  virtual ~cache_validator() = default;

  /// Returns true if nothing has changed since before the read began, and false if the provider must be called. Return true
  /// only if every change that a client can know of by now would have been noticed. Changes that cannot be noticed must be
  /// bounded by time, and documented by the provider.
  ///
  /// Must not block and should take about a microsecond: it is called on threads that serve other clients.
  [[nodiscard]] virtual bool is_valid() const noexcept = 0;
};

/// The result of a read.
struct read_result {
  std::vector<resource_content> contents{};  ///< Never empty for a resource that exists.
  std::string version{};                     ///< The version that was read; empty if unknown.
  /// How long a client may treat the answer as fresh. Zero if unknown; long for immutable content only.
  std::chrono::milliseconds ttl{0};
  /// Read during a change or so soon after one that a further change might not change the version. Such a result is not cached.
  bool is_racy = false;
  /// Tells whether the contents (or, without contents, the version) are still current. Null: the provider is called for every
  /// read.
  std::shared_ptr<const cache_validator> validator{};
};

/// A read result with one text. An empty `mime_type` means text/plain.
[[nodiscard]] read_result text_read_result(std::string text, std::string mime_type = {});
/// A read result with one blob. An empty `mime_type` means application/octet-stream.
[[nodiscard]] read_result blob_read_result(std::string bytes, std::string mime_type = {});

}  // namespace hondana::inline v0
