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
class cutter {
 public:
  cutter(const std::optional<part>& wanted, const std::optional<extent>& goes_on, std::size_t most)
      : wanted_(wanted), goes_on_(goes_on), most_(most) {
    is_counting_ = wanted && wanted->is_lines && !goes_on;
    if (goes_on) {
      out_.begin = goes_on->begin;
    } else if (wanted && !wanted->is_lines) {
      out_.begin = wanted->first;
    }
    has_begun_ = !is_counting_ || wanted->first == 1;
  }

  void feed(std::string_view piece) {
    if (is_counting_ && !end_) count(piece);
    if (has_begun_) keep(piece);
    if (!piece.empty()) ends_in_newline_ = piece.back() == '\n';
    out_.total += piece.size();
  }

  /// Finds where the requested lines begin and end, in the bytes so far.
  void count(std::string_view piece) {
    for (std::size_t at = piece.find('\n'); at != std::string_view::npos; at = piece.find('\n', at + 1)) {
      const auto next = out_.total + at + 1;  // start of the next line
      if (wanted_->last && line_ == *wanted_->last) {
        end_ = next;
        return;
      }
      if (++line_ == wanted_->first) {
        out_.begin = next;
        has_begun_ = true;
      }
    }
  }

  result<pulled> finish(bool is_text) {
    const auto lines = line_ - (out_.total == 0 || ends_in_newline_ ? 1 : 0);
    if (is_counting_ && (!has_begun_ || (out_.total > 0 && out_.begin >= out_.total))) {
      return fail(errc::invalid_argument, "range: begins at line " + std::to_string(wanted_->first) + ", but there are only " +
                                              std::to_string(lines) + " lines.");
    }
    if (out_.begin > 0 && out_.begin >= out_.total) {
      return fail(errc::invalid_argument, "range: begins at byte " + std::to_string(out_.begin) + ", but there are only " +
                                              std::to_string(out_.total) + " bytes.");
    }
    out_.end = out_.total;
    if (goes_on_) {
      out_.end = std::min(out_.total, goes_on_->end);
    } else if (end_) {
      out_.end = *end_;
    } else if (wanted_ && !wanted_->is_lines && wanted_->last) {
      out_.end = std::min(out_.total, *wanted_->last == UINT64_MAX ? UINT64_MAX : *wanted_->last + 1);
    }
    const auto length = out_.end > out_.begin ? out_.end - out_.begin : 0;
    if (out_.bytes.size() > length) out_.bytes.resize(static_cast<std::size_t>(length));
    if (is_text) end_well();
    return std::move(out_);
  }

 private:
  void keep(std::string_view piece) {
    const auto here = out_.total;
    const auto next = out_.begin + out_.bytes.size();
    if (next < here || next >= here + piece.size() || out_.bytes.size() >= most_) return;
    out_.bytes += piece.substr(static_cast<std::size_t>(next - here), most_ - out_.bytes.size());
  }

  void end_well() {
    auto& bytes = out_.bytes;
    // A byte range may begin inside a character; the result then begins with the next character.
    std::size_t stray = 0;
    while (stray < bytes.size() && stray < 3 && (static_cast<unsigned char>(bytes[stray]) & 0xC0) == 0x80) ++stray;
    bytes.erase(0, stray);
    out_.begin += stray;
    const bool is_cut = out_.begin + bytes.size() < out_.end;
    if (is_cut) {
      const auto newline = bytes.rfind('\n');
      if (newline != std::string::npos && newline >= bytes.size() / 2) bytes.resize(newline + 1);
    }
    bytes.resize(bytes.size() - json::incomplete_tail(bytes));
    // A byte range may end inside a character; the result then ends before it.
    if (!is_cut) out_.end = out_.begin + bytes.size();
  }

  const std::optional<part>& wanted_;
  const std::optional<extent>& goes_on_;
  std::size_t most_;
  bool is_counting_ = false;
  bool has_begun_ = false;
  bool ends_in_newline_ = false;
  std::uint64_t line_ = 1;
  std::optional<std::uint64_t> end_;
  pulled out_;
};

result<void> feed_all(byte_reader& from, const bytes::digest& expected, const call& by, cutter& into) {
  bytes::digester digest;
  const auto window = std::make_unique_for_overwrite<char[]>(window_bytes);
  for (;;) {
    if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    if (executor::clock::now() > by.deadline) {
      return fail(errc::timed_out, "Reading the resource took too long. Read a part of it with a range.");
    }
    HONDANA_TRY(const auto count, from.read(std::span(window.get(), window_bytes)));
    if (count == 0) break;
    if (count > window_bytes) return fail(errc::internal, "The source returned more bytes than requested.");
    const std::string_view piece(window.get(), count);
    digest.feed(piece);
    into.feed(piece);
  }
  if (digest.value() == expected) return {};
  return fail(errc::content_changed, "The resource changed while it was being read. Call the tool again.");
}

bool take_number(std::string_view& from, std::uint64_t& into) {
  const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), into);
  if (error != std::errc()) return false;
  from.remove_prefix(static_cast<std::size_t>(end - from.data()));
  return true;
}

}  // namespace

result<part> parse_part(const std::string& text) {
  const auto bad = [] {
    return fail(errc::invalid_argument,
                "range: expected lines=10-40, lines=10- or lines=10, counted from 1, or the same with bytes, counted from 0.");
  };
  std::string_view rest = text;
  part wanted;
  wanted.is_lines = rest.starts_with("lines=");
  if (!wanted.is_lines && !rest.starts_with("bytes=")) return bad();
  rest.remove_prefix(6);
  if (!take_number(rest, wanted.first) || (wanted.is_lines && wanted.first == 0)) return bad();
  wanted.last = wanted.first;
  if (rest.empty()) return wanted;
  if (rest.front() != '-') return bad();
  rest.remove_prefix(1);
  wanted.last.reset();
  if (rest.empty()) return wanted;
  std::uint64_t last = 0;
  if (!take_number(rest, last) || !rest.empty() || last < wanted.first) return bad();
  wanted.last = last;
  return wanted;
}

result<pulled> pull(const call& by, const surroundings& in, const bytes::prepared& from,
                    const std::shared_ptr<executor::lane>& home, const std::optional<part>& wanted,
                    const std::optional<extent>& goes_on, std::size_t most) {
  if (const auto* whole = std::get_if<shared_bytes>(&from.data)) {
    cutter cut(wanted, goes_on, most);
    cut.feed(**whole);
    return cut.finish(from.is_text);
  }
  const auto stream = std::get<bytes::stream>(from.data);
  auto job = [stream, wanted, goes_on, most, by, is_text = from.is_text]() -> result<pulled> {
    cutter cut(wanted, goes_on, most);
    HONDANA_TRY(feed_all(*stream.reader, stream.expected, by, cut));
    return cut.finish(is_text);
  };
  return await<pulled>(by, [&](catalog::completion<pulled> done) {
    catalog::ask_on<pulled>(*home, "resource", by, in.timers, std::move(job), std::move(done));
  });
}

}  // namespace hondana::tools
