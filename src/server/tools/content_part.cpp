/// Cuts a part out of a content, in bounded memory.
#include "server/tools/content_part.hpp"

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "base/bytes/digest.hpp"
#include "base/json/utf8.hpp"
#include "server/catalog/source_call.hpp"

namespace hondana::tools {
namespace {

constexpr std::size_t window_bytes = 256 * 1024;

/// Extracts the requested bytes from pieces of a content.
class range_extractor {
 public:
  range_extractor(const std::optional<content_range>& range, const std::optional<byte_range>& continuation,
                  std::size_t max_bytes)
      : range_(range), continuation_(continuation), max_bytes_(max_bytes) {
    is_counting_ = range && range->is_lines && !continuation;
    if (continuation) {
      extracted_.begin = continuation->begin;
    } else if (range && !range->is_lines) {
      extracted_.begin = range->first;
    }
    has_started_ = !is_counting_ || range->first == 1;
  }

  void feed(std::string_view piece) {
    if (is_counting_ && !end_) count(piece);
    if (has_started_) append(piece);
    if (!piece.empty()) ends_in_newline_ = piece.back() == '\n';
    extracted_.total += piece.size();
  }

  /// Finds where the requested lines begin and end, in the bytes so far.
  void count(std::string_view piece) {
    for (std::size_t position = piece.find('\n'); position != std::string_view::npos;
         position = piece.find('\n', position + 1)) {
      const auto next = extracted_.total + position + 1;  // start of the next line
      if (range_->last && line_ == *range_->last) {
        end_ = next;
        return;
      }
      if (++line_ == range_->first) {
        extracted_.begin = next;
        has_started_ = true;
      }
    }
  }

  result<extracted_bytes> finish(bool is_text) {
    const auto lines = line_ - (extracted_.total == 0 || ends_in_newline_ ? 1 : 0);
    if (is_counting_ && (!has_started_ || (extracted_.total > 0 && extracted_.begin >= extracted_.total))) {
      return fail(errc::invalid_argument, "range: begins at line " + std::to_string(range_->first) + ", but there are only " +
                                              std::to_string(lines) + " lines.");
    }
    if (extracted_.begin > 0 && extracted_.begin >= extracted_.total) {
      return fail(errc::invalid_argument, "range: begins at byte " + std::to_string(extracted_.begin) +
                                              ", but there are only " + std::to_string(extracted_.total) + " bytes.");
    }
    extracted_.end = extracted_.total;
    if (continuation_) {
      extracted_.end = std::min(extracted_.total, continuation_->end);
    } else if (end_) {
      extracted_.end = *end_;
    } else if (range_ && !range_->is_lines && range_->last) {
      extracted_.end = std::min(extracted_.total, *range_->last == UINT64_MAX ? UINT64_MAX : *range_->last + 1);
    }
    const auto length = extracted_.end > extracted_.begin ? extracted_.end - extracted_.begin : 0;
    if (extracted_.bytes.size() > length) extracted_.bytes.resize(static_cast<std::size_t>(length));
    if (is_text) trim_characters();
    return std::move(extracted_);
  }

 private:
  void append(std::string_view piece) {
    const auto start = extracted_.total;
    const auto next = extracted_.begin + extracted_.bytes.size();
    if (next < start || next >= start + piece.size() || extracted_.bytes.size() >= max_bytes_) return;
    extracted_.bytes += piece.substr(static_cast<std::size_t>(next - start), max_bytes_ - extracted_.bytes.size());
  }

  void trim_characters() {
    auto& bytes = extracted_.bytes;
    // A byte range may begin inside a character; the result then begins with the next character.
    std::size_t stray = 0;
    while (stray < bytes.size() && stray < 3 && (static_cast<unsigned char>(bytes[stray]) & 0xC0) == 0x80) ++stray;
    bytes.erase(0, stray);
    extracted_.begin += stray;
    const bool is_cut = extracted_.begin + bytes.size() < extracted_.end;
    if (is_cut) {
      const auto newline = bytes.rfind('\n');
      if (newline != std::string::npos && newline >= bytes.size() / 2) bytes.resize(newline + 1);
    }
    bytes.resize(bytes.size() - json::incomplete_tail(bytes));
    // A byte range may end inside a character; the result then ends before it.
    if (!is_cut) extracted_.end = extracted_.begin + bytes.size();
  }

  const std::optional<content_range>& range_;
  const std::optional<byte_range>& continuation_;
  std::size_t max_bytes_;
  bool is_counting_ = false;
  bool has_started_ = false;
  bool ends_in_newline_ = false;
  std::uint64_t line_ = 1;
  std::optional<std::uint64_t> end_;
  extracted_bytes extracted_;
};

result<void> feed_all(byte_reader& reader, const bytes::digest& expected, const request_context& context,
                      range_extractor& extractor) {
  bytes::digester digest;
  const auto window = std::make_unique_for_overwrite<char[]>(window_bytes);
  for (;;) {
    if (context.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    if (executor::clock::now() > context.deadline) {
      return fail(errc::timed_out, "Reading the resource took too long. Read a part of it with a range.");
    }
    HONDANA_TRY(const auto count, reader.read(std::span(window.get(), window_bytes)));
    if (count == 0) break;
    if (count > window_bytes) return fail(errc::internal, "The source returned more bytes than requested.");
    const std::string_view piece(window.get(), count);
    digest.update(piece);
    extractor.feed(piece);
  }
  if (digest.value() == expected) return {};
  return fail(errc::content_changed, "The resource changed while it was being read. Call the tool again.");
}

bool consume_number(std::string_view& input, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(input.data(), input.data() + input.size(), number);
  if (error != std::errc()) return false;
  input.remove_prefix(static_cast<std::size_t>(end - input.data()));
  return true;
}

}  // namespace

result<content_range> parse_range(const std::string& text) {
  const auto invalid_range = [] {
    return fail(errc::invalid_argument,
                "range: expected lines=10-40, lines=10- or lines=10, counted from 1, or the same with bytes, counted from 0.");
  };
  std::string_view remaining = text;
  content_range range;
  range.is_lines = remaining.starts_with("lines=");
  if (!range.is_lines && !remaining.starts_with("bytes=")) return invalid_range();
  remaining.remove_prefix(6);
  if (!consume_number(remaining, range.first) || (range.is_lines && range.first == 0)) return invalid_range();
  range.last = range.first;
  if (remaining.empty()) return range;
  if (remaining.front() != '-') return invalid_range();
  remaining.remove_prefix(1);
  range.last.reset();
  if (remaining.empty()) return range;
  std::uint64_t last = 0;
  if (!consume_number(remaining, last) || !remaining.empty() || last < range.first) return invalid_range();
  range.last = last;
  return range;
}

result<extracted_bytes> extract(const request_context& context, const tool_services& services,
                                const bytes::prepared_content& content, const std::shared_ptr<executor::executor>& executor,
                                const std::optional<content_range>& range, const std::optional<byte_range>& continuation,
                                std::size_t max_bytes) {
  if (const auto* data = std::get_if<shared_bytes>(&content.data)) {
    range_extractor extractor(range, continuation, max_bytes);
    extractor.feed(**data);
    return extractor.finish(content.is_text);
  }
  const auto stream = std::get<bytes::verified_stream>(content.data);
  auto job = [stream, range, continuation, max_bytes, context, is_text = content.is_text]() -> result<extracted_bytes> {
    range_extractor extractor(range, continuation, max_bytes);
    HONDANA_TRY(feed_all(*stream.reader, stream.expected_digest, context, extractor));
    return extractor.finish(is_text);
  };
  return await<extracted_bytes>(context, [&](catalog::completion<extracted_bytes> callback) {
    catalog::run_on<extracted_bytes>(*executor, "resource", context, services.timers, std::move(job), std::move(callback));
  });
}

}  // namespace hondana::tools
