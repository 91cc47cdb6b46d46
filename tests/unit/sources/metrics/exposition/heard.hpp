/// Keeps what a parser tells.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/exposition/parser.hpp"

namespace hondana::exposition {

class heard final : public sample_handler {
 public:
  struct entry {
    std::string of{}, value{};
    std::optional<series::instant> at{};
    bool operator==(const entry&) const = default;
  };
  std::vector<std::pair<std::string, series::metadata>> families{};
  std::vector<entry> samples{};
  std::size_t most = SIZE_MAX;  ///< After so many no more is wanted.

  void family(std::string_view name, const series::metadata& of) override { families.emplace_back(name, of); }
  bool sample(const series::identity& of, double value, std::optional<series::instant> at) override {
    auto copy = of;
    is_normal = is_normal && series::normalize(copy) && copy == of;
    samples.push_back({to_text(of), series::format_number(value), at});
    return samples.size() < most;
  }
  bool is_normal = true;
};

/// In pieces of `piece` bytes.
inline result<void> parse(std::string_view text, parser::format which, sample_handler& to, const parse_limits& most = {},
                          std::size_t piece = SIZE_MAX) {
  parser by(which, to, most);
  for (std::size_t at = 0; at < text.size(); at += std::min(piece, text.size() - at))
    if (auto done = by.parse(text.substr(at, piece)); !done) return done;
  return by.finish();
}

}  // namespace hondana::exposition
