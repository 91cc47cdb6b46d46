/// Masks secrets in content read in pieces or lines.
#include "text/secrets/masking_reader.hpp"

#include <algorithm>
#include <utility>

#include "text/secrets/matcher.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t piece_bytes = 192 * 1024;
static_assert(piece_bytes % unit_bytes == 0 && margin % unit_bytes == 0, "windows begin with a character");

}  // namespace

result<void> masking_reader::fill(std::size_t min_bytes) {
  auto filled = window_.size();
  if (filled >= min_bytes || is_at_end_) return {};
  window_.resize(min_bytes);
  while (filled < min_bytes) {
    HONDANA_TRY(const auto count, source_->read(std::span(window_).subspan(filled)));
    if (count == 0) {
      is_at_end_ = true;
      break;
    }
    filled += count;
  }
  window_.resize(filled);
  return {};
}

result<void> masking_reader::advance() {
  ready_.clear();
  returned_ = 0;
  if (!is_started_) {
    HONDANA_TRY(fill(front_bytes));
    redactor_ = redactor(policy_, window_);
  }
  const auto margin_bytes = redactor_.margin_bytes();
  if (next_ > margin_bytes) {
    window_.erase(0, next_ - margin_bytes);
    next_ = margin_bytes;
  }
  HONDANA_TRY(fill(next_ + piece_bytes + margin_bytes));
  const auto end = std::min(window_.size(), next_ + piece_bytes);
  auto masked = window_;
  masked_ += redactor_.mask_part(masked, next_, end, !std::exchange(is_started_, true));
  ready_.assign(masked, next_, end - next_);
  next_ = end;
  return {};
}

result<std::size_t> masking_reader::read(std::span<char> buffer) {
  if (returned_ == ready_.size()) {
    HONDANA_TRY(advance());
  }
  const auto count = std::min(buffer.size(), ready_.size() - returned_);
  std::copy_n(ready_.data() + returned_, count, buffer.data());
  returned_ += count;
  return count;
}

result<void> masking_reader::rewind() {
  window_.clear();
  ready_.clear();
  next_ = returned_ = masked_ = 0;
  is_started_ = is_at_end_ = false;
  return source_->rewind();
}

metadata masking_reader::trailing_metadata() const { return redaction_metadata(masked_); }

namespace {

constexpr std::size_t max_key_lines = 256;   // a key of 16384 bits has about 200
constexpr std::size_t max_header_lines = 8;  // headers in the first lines of a key
constexpr std::size_t min_piece_bytes = 16;  // length of base64 between other words

/// The end of the dashes before a label such as `BEGIN RSA PRIVATE KEY`, from `start` on.
std::size_t find_label(std::string_view line, std::string_view word, std::size_t start) {
  for (auto position = line.find(word, start); position != std::string_view::npos; position = line.find(word, position + 1)) {
    const auto key = std::min(line.find("PRIVATE KEY", position), line.find("SECRET KEY", position));
    if (position >= 3 && key != std::string_view::npos && key - position < 64 && line.substr(position - 3, 2) == "--")
      return position - 1;
  }
  return std::string_view::npos;
}

/// Whether the line is a header such as `Proc-Type: 4,ENCRYPTED` or `Version: GnuPG v2`.
bool is_header_line(std::string_view line) {
  const auto name = run_length(byte_set::word, line);
  return name != 0 && line.substr(name).starts_with(": ");
}

bool may_be_key_line(std::string_view line) {
  bool has_blank = false;
  for (std::size_t position = 0; position < line.size(); ++position) {
    const auto run = run_length(byte_set::base64, line.substr(position));
    if (run >= min_piece_bytes) return true;
    position += run;
    has_blank = has_blank || (position < line.size() && position != 0 && line[position] == ' ');
  }
  return !has_blank;
}

}  // namespace

std::string line_masker::mask(std::string_view line) {
  auto out = redact_text(line);
  const auto end = find_label(line, "END ", 0);
  if (lines_left_ != 0) {
    const bool continues = end != std::string_view::npos ||
                           (lines_left_ + max_header_lines > max_key_lines && is_header_line(line)) || may_be_key_line(line);
    const auto last = out.begin() + static_cast<std::ptrdiff_t>(continues ? std::min(end, out.size()) : 0);
    std::replace_if(out.begin(), last, [](char byte) { return !is_in(byte_set::blank, byte); }, '*');
    lines_left_ = continues && end == std::string_view::npos ? lines_left_ - 1 : 0;
  }
  const auto begin = find_label(line, "BEGIN ", 0);
  if (begin != std::string_view::npos && find_label(line, "END ", begin) == std::string_view::npos) lines_left_ = max_key_lines;
  return out;
}

}  // namespace hondana::secrets
