/// What a resource is: entries of the list, templates, and contents, spelled as in the MCP specification.
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

/// Whom a resource is meant for.
enum class role : std::uint8_t { user, assistant };

/// Hints for clients. Spec: server/resources#annotations.
struct annotations {
  std::vector<role> audience{};      ///< Empty: not stated.
  std::optional<double> priority{};  ///< 0.0 (optional) to 1.0 (effectively required).
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>>
      lastModified{};  ///< Sent as ISO 8601 in UTC; from 2025-06-18.

  bool operator==(const annotations&) const = default;
};

/// A picture for user interfaces; sent from 2025-11-25.
struct icon {
  std::string src{};  ///< An https: or data: URI.
  std::string mimeType{};
  std::vector<std::string> sizes{};
  std::string theme{};  ///< "light", "dark" or empty.

  bool operator==(const icon&) const = default;
};

/// A scalar in `resource::metadata`.
using metadata_value = std::variant<bool, std::int64_t, double, std::string>;
using metadata = std::vector<std::pair<std::string, metadata_value>>;

/// One entry of `resources/list`. Empty strings are absent members.
struct resource {
  std::string uri{};   ///< Canonical (see `canonical_uri`).
  std::string name{};  ///< Required.
  std::string title{};
  std::string description{};
  std::string mimeType{};
  std::optional<std::uint64_t> size{};  ///< Raw bytes, before base64.
  hondana::annotations annotations{};
  std::vector<icon> icons{};
  std::string kind{};            ///< What sort of thing this is, in its provider's words ("file", "folder", "commit").
  std::string version{};         ///< Opaque; changes whenever the content changes.
  hondana::metadata metadata{};  ///< Provider-specific facts; those with a prefix ("dev.example/…") stand in `_meta`, too.

  bool operator==(const resource&) const = default;
};

/// One entry of `resources/templates/list`. Empty strings are absent members.
struct resource_template {
  std::string uriTemplate{};  ///< RFC 6570.
  std::string name{};         ///< Required.
  std::string title{};
  std::string description{};
  std::string mimeType{};
  hondana::annotations annotations{};
  std::vector<icon> icons{};

  bool operator==(const resource_template&) const = default;
};

/// Immutable bytes that several answers may share.
using shared_bytes = std::shared_ptr<const std::string>;

/// Pulls content in pieces, so that a read of any size costs kilobytes.
///
/// Threads: called from any thread of the provider's pool, never two calls at once. May block.
class byte_reader {
 public:
  byte_reader() = default;
  byte_reader(const byte_reader&) = delete;
  byte_reader& operator=(const byte_reader&) = delete;
  virtual ~byte_reader() = default;

  /// Content bytes in total, fixed when the reader was made; what is appended later is not part of the read.
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills the front of `into` and returns how many bytes were written; 0 only at the end. Fewer than `size()` bytes in
  /// total is an error (content_changed), never a short answer.
  [[nodiscard]] virtual result<std::size_t> read(std::span<char> into) = 0;
  /// Starts again at the first byte.
  [[nodiscard]] virtual result<void> rewind() = 0;
  /// Facts about the content that only show once all of it has been read, besides those of `content`. Default: none.
  [[nodiscard]] virtual metadata facts() const { return {}; }
};

/// How content is sent: `detect` looks at all of it (well-formed UTF-8 without NUL is text, everything else a blob).
enum class content_form : std::uint8_t { detect, text, blob };

/// One item of the `contents` of a read.
struct content {
  std::string uri{};  ///< Empty: the URI as the client asked for it.
  std::string name{};
  std::string title{};
  std::string mimeType{};
  content_form form = content_form::detect;
  std::variant<shared_bytes, std::shared_ptr<byte_reader>> data{};
  hondana::metadata metadata{};  ///< Facts about these contents; those with a prefix ("dev.example/…") stand in `_meta`.
  /// `form` is not `detect`, and the provider has looked at all of `data`, as it would be looked at otherwise: text is
  /// well-formed UTF-8 without NUL. It is not looked at again, so that what is wrongly said to be text makes malformed
  /// messages.
  bool is_checked = false;
};

/// Vouches for a reading: as long as it holds, the same read would give the same contents, and need not be done again.
///
/// A provider that hears of changes may give one with a reading; whoever keeps the contents then asks this instead of the
/// provider. What it vouches for is everything that the reading was made from and decided by, but for the caller's view, which
/// is asked again each time.
/// Threads: any, several at once. It may outlive its provider.
class validity {
 public:
  validity() = default;
  validity(const validity&) = delete;
  validity& operator=(const validity&) = delete;
  virtual ~validity() = default;

  /// Whether nothing has changed since before the reading was begun. True may be said only when every change that a peer can
  /// know of by now would have been noticed; what cannot be noticed must be bounded by time, and documented by the provider.
  /// False: the provider is to be asked. Must not block, and takes a microsecond or so: it is asked on threads that serve
  /// other peers.
  [[nodiscard]] virtual bool holds() const noexcept = 0;
};

/// The answer to a read.
struct reading {
  std::vector<content> contents{};  ///< Never empty for a resource that exists.
  std::string version{};            ///< Of the resource as read; empty when unknown.
  /// For how long a client may take the answer as fresh; zero when unknown, long for immutable content only.
  std::chrono::milliseconds ttl{0};
  /// Read so soon after a change, or during one, that another change might leave the version as it is: it is not kept.
  bool is_racy = false;
  /// Says whether the contents, or with none the version, still are what they were. Null: the provider is asked at every read.
  std::shared_ptr<const validity> valid{};
};

/// A reading of one text, the commonest answer of small providers. `mime_type` empty means text/plain.
[[nodiscard]] reading text_reading(std::string text, std::string mime_type = {});
/// A reading of one blob. `mime_type` empty means application/octet-stream.
[[nodiscard]] reading blob_reading(std::string bytes, std::string mime_type = {});

}  // namespace hondana::inline v0
