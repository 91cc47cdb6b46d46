/// Four numbers and the spaces between them.
#include "os/process/told.hpp"

#include <array>
#include <charconv>
#include <cstdint>

namespace hondana::process {

std::string text_of(const limits& of) {
  return std::to_string(of.time.count()) + ' ' + std::to_string(of.memory) + ' ' + std::to_string(of.output) + ' ' +
         std::to_string(of.unpacked);
}

std::optional<limits> limits_in(std::string_view text) {
  std::array<std::uint64_t, 4> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), all[i]);
    if (read.ec != std::errc()) return {};
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (i + 1 == all.size()) break;
    if (!text.starts_with(' ')) return {};
    text.remove_prefix(1);
  }
  constexpr std::uint64_t longest = 86'400'000;  // a day
  if (!text.empty() || all[0] > longest) return {};
  return limits{.time = std::chrono::milliseconds(all[0]), .memory = all[1], .output = all[2], .unpacked = all[3]};
}

}  // namespace hondana::process
