/// Makes a provider's reading ready to send: sizes checked, text or blob decided, big contents digested once.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "base/bytes/digest.hpp"

namespace hondana::bytes {

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
