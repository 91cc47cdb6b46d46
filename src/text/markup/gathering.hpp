/// Lines that belong together become pieces.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "text/markup/lines.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {

class gatherer {
 public:
  gatherer(std::string_view text, hearer& to) noexcept : text_(text), to_(to) {}

  [[nodiscard]] std::string_view in(const line& one) const noexcept { return text_.substr(one.begin, one.end - one.begin); }
  /// The line goes to the open piece if that is of the same kind, else a new one begins.
  void extend(part what, const line& one) {
    if (!is_open_ || open_.what != what) {
      close();
      open_ = {what, one.begin, one.end, one.number, one.number, 0, {}, {}};
      is_open_ = true;
    }
    open_.end = one.end;
    open_.last_line = one.number;
  }
  /// The open piece is whole. What it is, for its links; `mark`: nothing was open.
  piece close() {
    if (!is_open_) return {part::mark, 0, 0, 1, 1, 0, {}, {}};
    is_open_ = false;
    emit(open_);
    return std::move(open_);
  }
  void drop() noexcept { is_open_ = false; }
  void emit(piece one) { is_wanted_ = is_wanted_ && to_.take(std::move(one)); }
  void emit(part what, const line& one) { emit({what, one.begin, one.end, one.number, one.number, 0, {}, {}}); }
  void refer(link one) {
    if (to_.wants_links()) to_.refer(std::move(one));
  }
  [[nodiscard]] bool is_open(part what) const noexcept { return is_open_ && open_.what == what; }
  [[nodiscard]] const piece& open() const noexcept { return open_; }
  [[nodiscard]] bool is_wanted() const noexcept { return is_wanted_; }
  [[nodiscard]] bool wants_links() const noexcept { return to_.wants_links(); }
  [[nodiscard]] std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
  hearer& to_;
  bool is_wanted_ = true;
  bool is_open_ = false;
  piece open_{};
};

}  // namespace hondana::markup
