/// Numbers as people read them.
#include "sources/analyses/figures.hpp"

#include <chrono>
#include <cstdio>

namespace hondana::analyses_source {
namespace {

std::string printed(const char* how, double number) {
  char out[64];
  std::snprintf(out, sizeof out, how, number);
  return out;
}

}  // namespace

std::string decimals(double number) {
  auto out = printed("%.4f", number);
  if (out.find('.') == std::string::npos) return out;
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out;
}

std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + ' ' + std::string(what) + (count == 1 ? "" : "s");
}

std::string time_text(analyses::milliseconds took) {
  using namespace std::chrono_literals;
  if (took < 10s) return std::to_string(took.count()) + " ms";
  if (took < 10min) return std::to_string(std::chrono::floor<std::chrono::seconds>(took).count()) + " s";
  if (took < 10h) return std::to_string(std::chrono::floor<std::chrono::minutes>(took).count()) + " min";
  return std::to_string(std::chrono::floor<std::chrono::hours>(took).count()) + " h";
}

std::string state_of(analyses::status how, bool is_stale) {
  if (how == analyses::status::computing) return "being computed";
  if (how == analyses::status::below) return "below its thresholds";
  return is_stale ? "stale" : "final";
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "–";
  return printed("%.1f %%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace hondana::analyses_source
