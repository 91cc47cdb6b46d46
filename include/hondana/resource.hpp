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

/// A participant of a conversation: the sender of a message, or an audience that a resource is meant for.
enum class chat_role : std::uint8_t { user, assistant };

/// Hints for clients. Spec: server/resources#annotations.
struct annotations {
  std::vector<chat_role> audience{};  ///< Empty: unknown.
  std::optional<double> priority{};   ///< 0.0 (optional) to 1.0 (effectively required).
  /// Sent from revision 2025-06-18 on.
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> last_modified{};

  bool operator==(const annotations&) const = default;
};

/// A picture for user interfaces. Sent from revision 2025-11-25 on.
struct icon {
  std::string src{};  ///< An https: or data: URI.
  std::string mime_type{};
  std::vector<std::string> sizes{};  ///< Such as "48x48" or "any".
  std::string theme{};               ///< "light", "dark", or empty.

  bool operator==(const icon&) const = default;
};

/// A scalar value in `resource::metadata`.
using metadata_value = std::variant<bool, std::int64_t, double, std::string>;
/// Names and values, in the order in which they are sent.
using metadata = std::vector<std::pair<std::string, metadata_value>>;

/// One entry of `resources/list`. Empty members are not sent.
struct resource {
  std::string uri{};   ///< Canonical (see `canonical_uri`).
  std::string name{};  ///< Required.
  std::string title{};
  std::string description{};
  std::string mime_type{};
  std::optional<std::uint64_t> size{};  ///< Bytes of the content, before base64.
  hondana::annotations annotations{};
  std::vector<icon> icons{};
  std::string kind{};            ///< The type of the resource in its provider: "file", "folder", "commit".
  std::string version{};         ///< Opaque; changes whenever the content changes. Empty: unknown.
  hondana::metadata metadata{};  ///< Provider-specific members. Names with a prefix ("dev.example/…") are also sent in `_meta`.

  bool operator==(const resource&) const = default;
};

/// One entry of `resources/templates/list`. Empty members are not sent.
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

/// Content that the server reads in pieces, so that any size needs only kilobytes of memory. A provider implements it.
///
/// Threads: any thread of the provider's pool, never two calls at once. Calls may block.
class byte_reader {
 public:
  byte_reader() = default;
  byte_reader(const byte_reader&) = delete;
  byte_reader& operator=(const byte_reader&) = delete;
  virtual ~byte_reader() = default;

  /// Returns the total of content bytes, fixed when the reader is created. Bytes that are appended later are not part of the
  /// read.
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills the front of `buffer`, and returns the number of bytes written; 0 only after `size()` bytes. Errors: content_changed
  /// if the content ends before.
  [[nodiscard]] virtual result<std::size_t> read(std::span<char> buffer) = 0;
  /// Continues at the first byte.
  [[nodiscard]] virtual result<void> rewind() = 0;
  /// Returns metadata that are known only after all content has been read. They are added to `resource_content::metadata`.
  /// Default: none.
  [[nodiscard]] virtual metadata trailing_metadata() const { return {}; }
};

/// How content is sent. `detect`: as text if all of it is well-formed UTF-8 without NUL, otherwise as a blob.
enum class content_kind : std::uint8_t { detect, text, blob };

/// One item of the `contents` of a read.
struct resource_content {
  std::optional<std::string> uri{};  ///< nullopt: `read_request::requested_uri`.
  std::string name{};
  std::string title{};
  std::string mime_type{};
  content_kind kind = content_kind::detect;
  std::variant<shared_bytes, std::shared_ptr<byte_reader>> data{};
  hondana::metadata metadata{};  ///< Only names with a prefix ("dev.example/…") are sent, in `_meta`.
  /// The provider has checked all of `data`, and set `kind` to `text` or `blob`: text must be well-formed UTF-8 without NUL.
  /// The server does not check again, so a wrong value produces malformed messages.
  bool is_validated = false;
};

/// Tells whether a read result or a page of a list is still current. A provider that is notified of changes can return one with
/// the result. The server then caches the result, and calls `is_valid` instead of the provider.
///
/// It must cover everything that the result depends on, except the caller's access filter, which the server checks each time.
///
/// Threads: any, several calls at once. It may outlive its provider.
class cache_validator {
 public:
  cache_validator() = default;
  cache_validator(const cache_validator&) = delete;
  cache_validator& operator=(const cache_validator&) = delete;
  virtual ~cache_validator() = default;

  /// Returns true if the same request would have the same result now, and false if the provider must be called. Return true
  /// only if the provider would have noticed every change that a client can know of by now. A provider that notices some
  /// changes late must document the delay.
  ///
  /// Must not block, and should take about a microsecond: it is called on threads that serve clients.
  [[nodiscard]] virtual bool is_valid() const noexcept = 0;
};

/// The result of a read.
struct read_result {
  std::vector<resource_content> contents{};  ///< May be empty only if `version` equals `read_request::cached_version`.
  std::string version{};                     ///< The version that was read. Empty: unknown.
  /// How long a client may treat the answer as fresh. Long for immutable content only.
  std::chrono::milliseconds ttl{0};
  /// The content changed so recently that a further change may not change `version`. The server does not cache such a result.
  bool is_racy = false;
  /// Tells whether the contents and the version are still current. Null: the provider is called for every read.
  std::shared_ptr<const cache_validator> validator{};
};

/// Makes a read result with one text. `mime_type`: empty means text/plain.
[[nodiscard]] read_result text_read_result(std::string text, std::string mime_type = {});
/// Makes a read result with one blob. `mime_type`: empty means application/octet-stream.
[[nodiscard]] read_result blob_read_result(std::string bytes, std::string mime_type = {});

}  // namespace hondana::inline v0
