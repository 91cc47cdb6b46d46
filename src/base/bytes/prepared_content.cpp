/// Prepares content for sending: checks sizes, distinguishes text from blobs, and digests streamed content.
#include "base/bytes/prepared_content.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>

#include "base/ascii/ascii.hpp"
#include "base/bytes/media_type.hpp"

namespace hondana::bytes {
namespace {

// The number of bytes to validate as UTF-8 before the fast ASCII check is tried again.
constexpr std::size_t utf8_window_bytes = std::size_t{4} << 10;

}  // namespace

void content_kind_detector::feed(std::string_view piece) {
  while (!binary_ && !piece.empty()) {
    if (utf8_.is_at_boundary()) piece.remove_prefix(json::ascii_run(piece));
    const auto part = piece.substr(0, utf8_window_bytes);
    binary_ = json::has_nul(part) || !utf8_.feed(part);
    piece.remove_prefix(part.size());
  }
}

content_kind content_kind_detector::value() const noexcept {
  return !binary_ && utf8_.finish() ? content_kind::text : content_kind::blob;
}

content_kind content_kind_of(std::string_view bytes) noexcept {
  content_kind_detector detector;
  detector.feed(bytes);
  return detector.value();
}

namespace {

constexpr std::size_t window_bytes = 256 * 1024;

/// Reports the progress of the first pass, at most once per window.
struct pass_progress {
  const read_request& request;
  std::uint64_t total;
  std::uint64_t completed = 0;

  void advance(std::size_t bytes) {
    completed += bytes;
    if (request.report_progress && bytes != 0) {
      request.report_progress({static_cast<double>(completed), static_cast<double>(total), "reading"});
    }
  }
};

result<void> check_cancellation(const request_context& request) {
  if (request.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (monotonic_clock::now() > request.deadline) {
    return fail(errc::timed_out, "The deadline passed while the resource was being read.");
  }
  return {};
}

tl::unexpected<failure> changed_size(const read_request& request) {
  return fail(errc::content_changed, "The resource changed its size while it was being read. Read it again.",
              "a reader of " + request.uri + " gave more or fewer bytes than its size");
}

/// Whether `item` is a blob of text with a declared charset other than UTF-8 and US-ASCII. Such text need not be valid UTF-8.
bool declares_charset(const resource_content& item) {
  if (item.kind != content_kind::blob) return false;
  const auto type = ascii::to_lower(item.mime_type);
  const auto charset_position = type.find("charset=");
  if (!type.starts_with("text/") || charset_position == std::string::npos) return false;
  // A blob is not valid UTF-8, so these declarations are wrong.
  const auto charset =
      std::string_view(type).substr(charset_position + (type.compare(charset_position + 8, 1, "\"") == 0 ? 9 : 8));
  return !charset.starts_with("utf-8") && !charset.starts_with("us-ascii");
}

/// Replaces a declared type that the content contradicts, and sets `active_content_key` if a browser would execute the content.
void resolve_media_type(resource_content& item, std::string_view front, bool is_text) {
  const auto declared = active_content_by_type(item.mime_type);
  // A range of lines or bytes does not begin like the whole resource. Other queries name resources of their own.
  const bool is_part = item.uri->find("?lines=") != std::string::npos || item.uri->find("?bytes=") != std::string::npos;
  const bool is_encoded_text = declares_charset(item) && sniff_media_type(front).empty();
  const auto effective = is_encoded_text ? std::string_view(item.mime_type)
                         : is_part       ? effective_media_type_of_part(item.mime_type, is_text)
                                         : effective_media_type(item.mime_type, front, is_text);
  const bool is_replaced = effective != item.mime_type;
  if (is_replaced) item.mime_type = std::string(effective);
  const auto active = declared != active_content::none ? declared
                      : is_replaced                    ? detect_active_content(item.mime_type, front)
                                                       : active_content_by_front(front);
  if (active == active_content::none) return;
  std::erase_if(item.metadata, [](const auto& entry) { return entry.first == active_content_key; });
  item.metadata.emplace_back(active_content_key, std::string(media_type_of(active)));
}

result<prepared_content> first_pass(resource_content&& item, const std::shared_ptr<byte_reader>& reader,
                                    pass_progress& progress) {
  content_kind_detector detector;
  digester digest;
  std::string front;
  const auto window = std::make_unique_for_overwrite<char[]>(window_bytes);
  auto remaining = reader->size();
  for (;;) {
    HONDANA_TRY(check_cancellation(progress.request));
    HONDANA_TRY(const auto count, reader->read(std::span(window.get(), window_bytes)));
    if (count == 0) break;
    if (count > std::min<std::uint64_t>(remaining, window_bytes)) return changed_size(progress.request);
    remaining -= count;
    const std::string_view piece(window.get(), count);
    digest.update(piece);
    front += piece.substr(0, sniffed_bytes - front.size());
    if (item.kind != content_kind::blob) detector.feed(piece);
    progress.advance(count);
  }
  if (remaining != 0) return changed_size(progress.request);
  for (auto& entry : reader->trailing_metadata()) item.metadata.push_back(std::move(entry));
  HONDANA_TRY(reader->rewind());
  const bool is_text = item.kind != content_kind::blob && detector.value() == content_kind::text;
  resolve_media_type(item, front, is_text);
  return prepared_content{std::move(*item.uri),
                          std::move(item.name),
                          std::move(item.title),
                          std::move(item.mime_type),
                          is_text,
                          verified_stream{reader, digest.value()},
                          std::move(item.metadata)};
}

std::uint64_t size_of(const resource_content& item) {
  if (const auto* bytes = std::get_if<shared_bytes>(&item.data)) return *bytes ? (*bytes)->size() : 0;
  return std::get<std::shared_ptr<byte_reader>>(item.data)->size();
}

bool lacks_reader(const resource_content& item) {
  const auto* reader = std::get_if<std::shared_ptr<byte_reader>>(&item.data);
  return reader != nullptr && !*reader;
}

/// The sum, or the maximum value on overflow.
std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) {
  return b > std::numeric_limits<std::uint64_t>::max() - a ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

}  // namespace

failure too_large_error(const std::string& uri, std::uint64_t size, std::uint64_t limit, bool has_ranges) {
  std::string text = "The resource " + uri + " has " + std::to_string(size) + " bytes; the read limit is " +
                     std::to_string(limit) + " bytes. ";
  text += has_ranges ? "Read smaller parts of it with ?lines=FIRST-LAST or ?bytes=FIRST-LAST, or ask the operator of the "
                       "server to raise max_read_bytes."
                     : "Ask the operator of the server to raise max_read_bytes.";
  return {errc::response_too_large, std::move(text), {}};
}

result<prepared_read_result> prepare_content(read_result source, const read_request& request) {
  if (source.contents.empty() || std::any_of(source.contents.begin(), source.contents.end(), lacks_reader)) {
    return fail(errc::internal, "The source returned no contents.", "empty reading of " + request.uri);
  }
  std::uint64_t total = 0;
  for (const auto& item : source.contents) total = capped_sum(total, size_of(item));
  if (total > request.max_bytes) return tl::unexpected(too_large_error(request.requested_uri, total, request.max_bytes, false));

  prepared_read_result ready{{}, std::move(source.version), source.ttl, source.is_racy, std::move(source.validator)};
  ready.contents.reserve(source.contents.size());
  pass_progress progress{request, total};
  for (auto& item : source.contents) {
    if (!item.uri) item.uri = request.requested_uri;
    if (auto* reader = std::get_if<std::shared_ptr<byte_reader>>(&item.data)) {
      const auto owner = *reader;
      HONDANA_TRY(auto streamed, first_pass(std::move(item), owner, progress));
      ready.contents.push_back(std::move(streamed));
      continue;
    }
    auto bytes = std::get<shared_bytes>(std::move(item.data));
    if (!bytes) bytes = std::make_shared<const std::string>();
    const bool is_checked = item.is_validated && item.kind != content_kind::detect;
    const auto kind = is_checked || item.kind == content_kind::blob ? item.kind : content_kind_of(*bytes);
    const bool is_text = kind == content_kind::text;
    resolve_media_type(item, std::string_view(*bytes).substr(0, sniffed_bytes), is_text);
    ready.contents.push_back({std::move(*item.uri), std::move(item.name), std::move(item.title), std::move(item.mime_type),
                              is_text, std::move(bytes), std::move(item.metadata)});
  }
  return ready;
}

}  // namespace hondana::bytes
