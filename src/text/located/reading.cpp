/// Lines of a text, and what is said about it.
#include "text/located/reading.hpp"

#include <algorithm>
#include <utility>

#include "text/secrets/near.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::located {
namespace {

/// "line 7: what", with the number in `about`.
failure in_line(errc code, std::size_t line, std::string_view what) {
  failure out{code, "line " + std::to_string(line) + ": " + std::string(what), {}};
  out.about = std::to_string(line);
  return out;
}

}  // namespace

reading::reading(std::string_view text, const limits& most) : text_(text), most_(most) {
  lines_.push_back(0);
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1)) lines_.push_back(end + 1);
}

std::uint32_t reading::line_of(std::size_t offset) const noexcept {
  return static_cast<std::uint32_t>(std::upper_bound(lines_.begin(), lines_.end(), offset) - lines_.begin());
}

std::size_t reading::begin_of_line(std::size_t line) const noexcept {
  return line == 0 || line > lines_.size() ? text_.size() : lines_[line - 1];
}

place reading::at(std::size_t begin, std::size_t end) const noexcept { return {begin, end, line_of(begin)}; }

tl::unexpected<failure> reading::wrong_in_line(std::size_t line, std::string_view what) const {
  return tl::unexpected(in_line(errc::invalid_argument, line, what));
}

tl::unexpected<failure> reading::too_many(std::size_t offset, std::string_view what) const {
  return tl::unexpected(in_line(errc::response_too_large, line_of(offset), what));
}

tl::unexpected<failure> reading::wrong(std::size_t offset, std::string_view what) const {
  return wrong_in_line(line_of(std::min(offset, text_.size())), what);
}

tl::unexpected<failure> reading::too_deep(std::size_t offset) const {
  return wrong(offset, "lists and tables are nested deeper than " + std::to_string(most_.depth) + " levels");
}

void reading::remark(std::size_t offset, std::string_view what) {
  if (remarks_.size() == most_remarks) return;
  if (remarks_.size() + 1 == most_remarks) {
    remarks_.emplace_back("further remarks are left out");
    return;
  }
  remarks_.push_back("line " + std::to_string(line_of(offset)) + ": " + std::string(what));
}

void reading::remark_duplicate(std::size_t offset, std::string_view key) {
  remark(offset, "the key " + shown(key) + " is repeated; this value is used");
}

result<void> reading::count(std::size_t offset, std::size_t values) {
  values_ += values;
  if (values_ <= most_.values) return {};
  return too_many(offset, "more than " + std::to_string(most_.values) + " values, counting each repetition by an alias");
}

result<void> reading::count_repeated(std::size_t offset, std::size_t bytes) {
  repeated_ += bytes;
  if (repeated_ <= most_.bytes) return {};
  return too_many(offset, "aliases repeat more than " + std::to_string(most_.bytes) + " bytes of text");
}

std::string shown(std::string_view key) {
  constexpr std::size_t longest = 80;
  const bool prints =
      std::none_of(key.begin(), key.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; });
  // A line of a private key is a key to some formats, and looks like none of what is masked by itself.
  if (key.size() > longest || !prints || !secrets::is_name(key) || secrets::redact_text(key) != key) return "a key";
  return '"' + std::string(key) + '"';
}

}  // namespace hondana::located
