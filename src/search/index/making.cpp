/// Naming how texts are made.
#include "search/index/making.hpp"

#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "search/index/store.hpp"

namespace hondana::search {
namespace {

constexpr std::size_t longest_claim = 200;

const char* name_of(masking how) noexcept {
  switch (how) {
    case masking::by_server:
      return " masked by the server, ";
    case masking::by_source:
      return " masked by the source, ";
    case masking::none:
      break;
  }
  return " not masked, ";
}

/// A claim and not a source: what another source serves from now on is another's.
std::string making_by(const provider& source, std::string_view claim) {
  std::string out(claim);
  if (out.size() > longest_claim) {
    static constexpr char digits[] = "0123456789abcdef";
    out.clear();
    for (const char byte : digest_of_text(claim)) {
      out += digits[static_cast<unsigned char>(byte) >> 4];
      out += digits[static_cast<unsigned char>(byte) & 15];
    }
  }
  return out + name_of(source.masking()) + std::to_string(version_of_masking) + '.' + std::to_string(version_of_cutting);
}

}  // namespace

std::string making_of(const catalog::catalog& in, std::string_view uri) {
  const auto by = in.source_of(uri);
  if (!by) return {};
  std::string closest;
  for (auto& claim : by->what()->claims()) {
    if (claim.size() >= closest.size() && covers(claim, uri)) closest = std::move(claim);
  }
  return making_by(*by->what(), closest);
}

std::vector<std::string> makings_of(const catalog::catalog& in) {
  std::vector<std::string> out;
  for (const auto& source : in.sources()) {
    for (const auto& claim : source->what()->claims()) out.push_back(making_by(*source->what(), claim));
  }
  return out;
}

}  // namespace hondana::search
