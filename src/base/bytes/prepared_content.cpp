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
constexpr std::size_t looked_at_once = std::size_t{4} << 10;

}  // namespace

void form_detector::feed(std::string_view piece) {
  while (!binary_ && !piece.empty()) {
    if (utf8_.is_between()) piece.remove_prefix(json::ascii_run(piece));
    const auto part = piece.substr(0, looked_at_once);
    binary_ = json::has_nul(part) || !utf8_.feed(part);
    piece.remove_prefix(part.size());
  }
}

content_form form_detector::value() const noexcept {
  return !binary_ && utf8_.finish() ? content_form::text : content_form::blob;
}

content_form form_of(std::string_view bytes) noexcept {
  form_detector form;
  form.feed(bytes);
  return form.value();
}

namespace {

constexpr std::size_t window_bytes = 256 * 1024;

/// Reports the progress of the first pass, at most once per window.
struct pass_progress {
  const read_request& caller;
  std::uint64_t total;
  std::uint64_t done = 0;

  void advance(std::size_t bytes) {
    done += bytes;
    if (caller.report && bytes != 0) {
      caller.report({static_cast<double>(done), static_cast<double>(total), "reading"});
    }
  }
};

result<void> still_wanted(const call& caller) {
  if (caller.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (monotonic_clock::now() > caller.deadline) {
    return fail(errc::timed_out, "The deadline passed while the resource was being read.");
  }
  return {};
}

tl::unexpected<failure> changed_size(const read_request& request) {
  return fail(errc::content_changed, "The resource changed its size while it was being read. Read it again.",
              "a reader of " + request.uri + " gave more or fewer bytes than its size");
}

/// Whether `item` is a blob of text with a declared charset other than UTF-8 and US-ASCII. Such text need not be valid UTF-8.
bool names_encoding(const content& item) {
  if (item.form != content_form::blob) return false;
  const auto type = ascii::in_lower_case(item.mimeType);
  const auto named = type.find("charset=");
  if (!type.starts_with("text/") || named == std::string::npos) return false;
  // A blob is not valid UTF-8, so these declarations are wrong.
  const auto name = std::string_view(type).substr(named + (type.compare(named + 8, 1, "\"") == 0 ? 9 : 8));
  return !name.starts_with("utf-8") && !name.starts_with("us-ascii");
}

/// Replaces a declared type that the content contradicts, and sets `active_key` if a browser would execute the content.
void settle_type(content& item, std::string_view front, bool is_text) {
  const auto declared = active_by_type(item.mimeType);
  // A range of lines or bytes does not begin like the whole resource. Other queries name resources of their own.
  const bool is_part = item.uri.find("?lines=") != std::string::npos || item.uri.find("?bytes=") != std::string::npos;
  const bool is_encoded_text = names_encoding(item) && type_of_signature(front).empty();
  const auto told = is_encoded_text ? std::string_view(item.mimeType)
                    : is_part       ? agreeing_type_of_part(item.mimeType, is_text)
                                    : agreeing_type(item.mimeType, front, is_text);
  const bool gave_way = told != item.mimeType;
  if (gave_way) item.mimeType = std::string(told);
  const auto found = declared != active::no ? declared : gave_way ? active_as(item.mimeType, front) : active_by_front(front);
  if (found == active::no) return;
  std::erase_if(item.metadata, [](const auto& fact) { return fact.first == active_key; });
  item.metadata.emplace_back(active_key, std::string(type_of(found)));
}

result<prepared> first_pass(content&& item, const std::shared_ptr<byte_reader>& reader, pass_progress& progress) {
  form_detector form;
  digester digest;
  std::string front;
  const auto window = std::make_unique_for_overwrite<char[]>(window_bytes);
  auto left = reader->size();
  for (;;) {
    HONDANA_TRY(still_wanted(progress.caller));
    HONDANA_TRY(const auto count, reader->read(std::span(window.get(), window_bytes)));
    if (count == 0) break;
    if (count > std::min<std::uint64_t>(left, window_bytes)) return changed_size(progress.caller);
    left -= count;
    const std::string_view piece(window.get(), count);
    digest.feed(piece);
    front += piece.substr(0, front_bytes - front.size());
    if (item.form != content_form::blob) form.feed(piece);
    progress.advance(count);
  }
  if (left != 0) return changed_size(progress.caller);
  for (auto& fact : reader->facts()) item.metadata.push_back(std::move(fact));
  HONDANA_TRY(reader->rewind());
  const bool is_text = item.form != content_form::blob && form.value() == content_form::text;
  settle_type(item, front, is_text);
  return prepared{std::move(item.uri),
                  std::move(item.name),
                  std::move(item.title),
                  std::move(item.mimeType),
                  is_text,
                  stream{reader, digest.value()},
                  std::move(item.metadata)};
}

std::uint64_t size_of(const content& item) {
  if (const auto* whole = std::get_if<shared_bytes>(&item.data)) return *whole ? (*whole)->size() : 0;
  return std::get<std::shared_ptr<byte_reader>>(item.data)->size();
}

bool lacks_reader(const content& item) {
  const auto* reader = std::get_if<std::shared_ptr<byte_reader>>(&item.data);
  return reader != nullptr && !*reader;
}

/// The sum, or the maximum value on overflow.
std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) {
  return b > std::numeric_limits<std::uint64_t>::max() - a ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

}  // namespace

failure too_large(const std::string& uri, std::uint64_t size, std::uint64_t limit, bool has_ranges) {
  std::string text = "The resource " + uri + " has " + std::to_string(size) + " bytes; the read limit is " +
                     std::to_string(limit) + " bytes. ";
  text += has_ranges ? "Read smaller parts of it with ?lines=FIRST-LAST or ?bytes=FIRST-LAST, or ask the operator of the "
                       "server to raise read_limit."
                     : "Ask the operator of the server to raise read_limit.";
  return {errc::response_too_large, std::move(text), {}};
}

result<prepared_reading> prepare(reading source, const read_request& request) {
  if (source.contents.empty() || std::any_of(source.contents.begin(), source.contents.end(), lacks_reader)) {
    return fail(errc::internal, "The source returned no contents.", "empty reading of " + request.uri);
  }
  std::uint64_t total = 0;
  for (const auto& item : source.contents) total = capped_sum(total, size_of(item));
  if (total > request.max_bytes) return tl::unexpected(too_large(request.asked_uri, total, request.max_bytes, false));

  prepared_reading ready{{}, std::move(source.version), source.ttl, source.is_racy, std::move(source.valid)};
  ready.contents.reserve(source.contents.size());
  pass_progress progress{request, total};
  for (auto& item : source.contents) {
    if (item.uri.empty()) item.uri = request.asked_uri;
    if (auto* reader = std::get_if<std::shared_ptr<byte_reader>>(&item.data)) {
      const auto kept = *reader;
      HONDANA_TRY(auto one, first_pass(std::move(item), kept, progress));
      ready.contents.push_back(std::move(one));
      continue;
    }
    auto whole = std::get<shared_bytes>(std::move(item.data));
    if (!whole) whole = std::make_shared<const std::string>();
    const bool is_checked = item.is_checked && item.form != content_form::detect;
    const auto form = is_checked || item.form == content_form::blob ? item.form : form_of(*whole);
    const bool is_text = form == content_form::text;
    settle_type(item, std::string_view(*whole).substr(0, front_bytes), is_text);
    ready.contents.push_back({std::move(item.uri), std::move(item.name), std::move(item.title), std::move(item.mimeType),
                              is_text, std::move(whole), std::move(item.metadata)});
  }
  return ready;
}

}  // namespace hondana::bytes
