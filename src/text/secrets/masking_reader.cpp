/// A window that moves over the source.
#include "text/secrets/masking_reader.hpp"

#include <algorithm>
#include <utility>

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

}  // namespace hondana::secrets
