/// A look over TOML that knows strings and comments, and nothing else.
#include "text/located/toml_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/ascii/characters.hpp"

namespace hondana::located {
namespace {

bool is_bare(char c) noexcept {
  return ascii::is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || static_cast<unsigned char>(c) > 0x7F;
}

/// Counts the dots between names and quoted texts that follow each other: `a . "b.c".d` has two.
class dot_counter {
 public:
  explicit dot_counter(const reading& from) : from_(from), text_(from.text()) {}

  result<void> all() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        skip_quoted();
      } else if (c == '.') {
        HONDANA_TRY(count_dot());
        ++at_;
      } else if (is_bare(c) || c == ' ' || c == '\t') {
        ++at_;
      } else {
        if (c == '=' || c == ']') all_ += dots_;
        dots_ = 0;
        ++at_;
        if (all_ > most_dots_in_keys) return too_many();
      }
    }
    return {};
  }

 private:
  result<void> count_dot() {
    if (++dots_ <= from_.most().depth) return {};
    return from_.too_deep(at_);
  }

  [[nodiscard]] result<void> too_many() const {
    return from_.too_many(at_ - 1, "more than " + std::to_string(most_dots_in_keys) + " dots in keys");
  }

  void skip_quoted() {
    const char quote = text_[at_];
    const std::string three(3, quote);
    const bool is_long = text_.substr(at_).starts_with(three);
    at_ += is_long ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && quote == '"') {
        at_ += 2;
      } else if (c == quote && (!is_long || text_.substr(at_).starts_with(three))) {
        at_ += is_long ? 3 : 1;
        // Up to two more belong to the text.
        while (is_long && at_ < text_.size() && text_[at_] == quote) ++at_;
        return;
      } else if (c == '\n' && !is_long) {
        return;
      } else {
        ++at_;
      }
    }
  }

  const reading& from_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t dots_ = 0;
  std::size_t all_ = 0;
};

}  // namespace

result<void> check_toml_keys(const reading& from) { return dot_counter(from).all(); }

}  // namespace hondana::located
