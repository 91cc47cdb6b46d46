/// Ranges, and servers that know none.
#include "sources/gdrive/drive/content_taker.hpp"

#include <algorithm>
#include <charconv>

#include "base/ascii/characters.hpp"

namespace hondana::drive {
namespace {

/// Takes a number from the front. False: there is none.
bool take_number(std::string_view& from, std::uint64_t& into) noexcept {
  const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), into);
  if (error != std::errc()) return false;
  from.remove_prefix(static_cast<std::size_t>(end - from.data()));
  return true;
}

bool take_sign(std::string_view& from, char sign) noexcept {
  if (!from.starts_with(sign)) return false;
  from.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<content_range> content_range_in(std::string_view field) noexcept {
  constexpr std::string_view unit = "bytes ";
  content_range out;
  if (field.size() < unit.size() || !ascii::is_same(unit, field.substr(0, unit.size()))) return {};
  field.remove_prefix(unit.size());
  if (!take_number(field, out.first) || !take_sign(field, '-') || !take_number(field, out.last) || !take_sign(field, '/'))
    return {};
  if (field != "*") {
    std::uint64_t whole = 0;
    if (!take_number(field, whole) || !field.empty() || whole <= out.last) return {};
    out.whole = whole;
  }
  if (out.last < out.first) return {};
  return out;
}

result<void> content_taker::not_this(std::string_view why) {
  is_of_server_ = true;
  return fail(errc::broken_protocol, std::string(why));
}

result<void> content_taker::begin(const endpoint::answer& head) {
  has_begun_ = true;
  content_head told{.type = head.content_type, .is_by_link = is_by_link_};
  if (!type_.empty() && !ascii::in_lower_case(type_).starts_with("text/html") &&
      ascii::in_lower_case(head.content_type).starts_with("text/html"))
    return not_this("the answer is an HTML page instead of the content");
  if (range_ && range_->last) left_ = *range_->last - range_->first + 1;
  if (head.status == 206) {
    const auto came = content_range_in(head.content_range);
    if (!range_ || !came) return not_this("the answer is a part without a range, or no part was requested");
    if (came->first != range_->first || (range_->last && came->last > *range_->last))
      return not_this("the answer is a different part than requested");
    told.whole = came->whole;
  } else if (range_) {
    is_sending_whole_ = true;
    skip_ = range_->first;
  }
  told.first = range_ ? range_->first : 0;
  if (!into_.begins) return {};
  auto fine = into_.begins(told);
  is_of_sink_ = !fine;
  return fine;
}

result<void> content_taker::take(std::string_view piece) {
  const auto skipped = std::min<std::uint64_t>(skip_, piece.size());
  skip_ -= skipped;
  piece.remove_prefix(static_cast<std::size_t>(skipped));
  if (left_) {
    piece = piece.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(*left_, piece.size())));
    *left_ -= piece.size();
  }
  if (!piece.empty()) {
    passed_ += piece.size();
    if (auto fine = into_.takes(piece); !fine) {
      is_of_sink_ = true;
      return fine;
    }
  }
  if (left_ != std::uint64_t{0}) return {};
  // A server that knows no ranges sends on and on. What it has of the last piece is thrown away with the connection.
  is_enough_ = true;
  if (!is_sending_whole_) return {};
  return fail(errc::cancelled, "all requested content was read");
}

result<void> content_taker::finish(const endpoint::answer& head) {
  if (!has_begun_) {
    HONDANA_TRY(begin(head));
  }
  if (skip_ == 0) return {};
  return fail(errc::invalid_argument, "the range starts after the end of the file");
}

}  // namespace hondana::drive
