/// Prepares a reading for sending: checks sizes, tells text from blobs, and digests large content.
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

/// Text is well-formed UTF-8 without NUL, judged over the whole content; everything else is a blob. Fed in pieces.
class form_detector {
 public:
  void feed(std::string_view piece);
  /// `text` or `blob`, for what has been fed.
  [[nodiscard]] content_form value() const noexcept;

 private:
  json::utf8_stream utf8_;
  bool binary_ = false;
};

[[nodiscard]] content_form form_of(std::string_view bytes) noexcept;

/// Content that is pulled while it is sent, and must then be what it was when it was first read.
struct stream {
  std::shared_ptr<byte_reader> reader;  ///< Rewound.
  digest expected{};
};

/// Content that is kept as it stands in a message, inside its JSON string: escaped text or base64. All codecs write it alike.
struct encoded {
  shared_bytes inside;
  std::uint64_t size = 0;  ///< Of the content itself, in bytes.
};

/// One content whose form is known.
struct prepared {
  std::string uri;
  std::string name;
  std::string title;
  std::string mimeType;
  bool is_text = false;
  std::variant<shared_bytes, stream, encoded> data;  ///< `encoded` only where whoever asked takes it.
  hondana::metadata metadata{};
};

struct prepared_reading {
  std::vector<prepared> contents;
  std::string version;
  std::chrono::milliseconds ttl{0};
  bool is_racy = false;                     ///< As of the reading.
  std::shared_ptr<const validity> valid{};  ///< The same.
};

/// Decides every content's form and takes the digest of pulled ones (their first pass); reports progress over the bytes.
///
/// Contents without a URI get `request.asked_uri`. Contents declared text that are not well-formed UTF-8 become blobs;
/// a MIME type that the content belies becomes one that it does not (`agreeing_type`), and what a browser would run is labelled
/// among the metadata (`active_key`).
/// Errors: response_too_large when the contents together exceed `request.max_bytes`, internal for a reading without contents,
/// cancelled, timed_out, and whatever a reader reports. Threads: a thread of the provider's lane.
[[nodiscard]] result<prepared_reading> prepare(reading source, const read_request& request);

/// The error for content beyond the read limit: names size, limit and the way round it.
[[nodiscard]] failure too_large(const std::string& uri, std::uint64_t size, std::uint64_t limit, bool has_ranges);

}  // namespace hondana::bytes
