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

result<void> masking_reader::fill(std::size_t wanted) {
  auto have = window_.size();
  if (have >= wanted || is_at_end_) return {};
  window_.resize(wanted);
  while (have < wanted) {
    HONDANA_TRY(const auto count, of_->read(std::span(window_).subspan(have)));
    if (count == 0) {
      is_at_end_ = true;
      break;
    }
    have += count;
  }
  window_.resize(have);
  return {};
}

result<void> masking_reader::advance() {
  ready_.clear();
  given_ = 0;
  if (!is_begun_) {
    HONDANA_TRY(fill(front_bytes));
    redactor_ = redactor(how_, window_);
  }
  const auto around = redactor_.around();
  if (next_ > around) {
    window_.erase(0, next_ - around);
    next_ = around;
  }
  HONDANA_TRY(fill(next_ + piece_bytes + around));
  const auto end = std::min(window_.size(), next_ + piece_bytes);
  auto masked = window_;
  masked_ += redactor_.mask_part(masked, next_, end, !std::exchange(is_begun_, true));
  ready_.assign(masked, next_, end - next_);
  next_ = end;
  return {};
}

result<std::size_t> masking_reader::read(std::span<char> into) {
  if (given_ == ready_.size()) {
    HONDANA_TRY(advance());
  }
  const auto count = std::min(into.size(), ready_.size() - given_);
  std::copy_n(ready_.data() + given_, count, into.data());
  given_ += count;
  return count;
}

result<void> masking_reader::rewind() {
  window_.clear();
  ready_.clear();
  next_ = given_ = masked_ = 0;
  is_begun_ = is_at_end_ = false;
  return of_->rewind();
}

metadata masking_reader::facts() const { return facts_of(masked_); }

namespace {

constexpr std::size_t most_lines = 256;        // a key of 16384 bits has about 200
constexpr std::size_t most_first_headers = 8;  // headers in the first lines of a key
constexpr std::size_t least_piece = 16;        // length of base64 between other words

/// The end of the dashes before a label such as `BEGIN RSA PRIVATE KEY`, from `from` on.
std::size_t label_at(std::string_view line, std::string_view word, std::size_t from) {
  for (auto at = line.find(word, from); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const auto key = std::min(line.find("PRIVATE KEY", at), line.find("SECRET KEY", at));
    if (at >= 3 && key != std::string_view::npos && key - at < 64 && line.substr(at - 3, 2) == "--") return at - 1;
  }
  return std::string_view::npos;
}

/// Whether the line is a header such as `Proc-Type: 4,ENCRYPTED` or `Version: GnuPG v2`.
bool is_header_line(std::string_view line) {
  const auto name = run_of(kind::word, line);
  return name != 0 && line.substr(name).starts_with(": ");
}

bool may_be_of_key(std::string_view line) {
  bool has_blank = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const auto run = run_of(kind::base64, line.substr(at));
    if (run >= least_piece) return true;
    at += run;
    has_blank = has_blank || (at < line.size() && at != 0 && line[at] == ' ');
  }
  return !has_blank;
}

}  // namespace

std::string line_masker::masked(std::string_view line) {
  auto out = redact_text(line);
  const auto end = label_at(line, "END ", 0);
  if (lines_left_ != 0) {
    const bool goes_on = end != std::string_view::npos ||
                         (lines_left_ + most_first_headers > most_lines && is_header_line(line)) || may_be_of_key(line);
    const auto last = out.begin() + static_cast<std::ptrdiff_t>(goes_on ? std::min(end, out.size()) : 0);
    std::replace_if(out.begin(), last, [](char byte) { return !is(kind::blank, byte); }, '*');
    lines_left_ = goes_on && end == std::string_view::npos ? lines_left_ - 1 : 0;
  }
  const auto begin = label_at(line, "BEGIN ", 0);
  if (begin != std::string_view::npos && label_at(line, "END ", begin) == std::string_view::npos) lines_left_ = most_lines;
  return out;
}

}  // namespace hondana::secrets
