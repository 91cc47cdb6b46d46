/// Masking by name, format and entropy.
#include "sources/env/masked_value.hpp"

#include <utility>

#include "base/json/utf8.hpp"
#include "sources/env/drawn.hpp"
#include "text/secrets/inner_secrets.hpp"
#include "text/secrets/scanner.hpp"
#include "text/secrets/telling_names.hpp"

namespace hondana::env {
namespace {

/// What is found in the value when the name stands before it.
void find_behind_name(std::string_view name, std::string_view between, std::string_view value,
                      std::vector<secrets::span>& into) {
  std::string line(name);
  line += between;
  const auto front = line.size();
  line += value;
  std::vector<secrets::span> found;
  secrets::find(line, secrets::policy::settings, found);
  for (const auto& one : found) {
    if (one.end > front) into.push_back({one.begin < front ? 0 : one.begin - front, one.end - front});
  }
}

}  // namespace

masked_value mask_value(std::string_view name, std::string_view value, std::vector<secrets::span> known) {
  if (value.empty()) return {};
  if (secrets::told_by(name) != secrets::telling::nothing) return {std::string(whole_mask), 1};
  auto found = std::move(known);
  find_behind_name({}, {}, value, found);
  find_behind_name(name, "=", value, found);
  find_behind_name(name, ": ", value, found);
  secrets::find_inner(value, found);
  find_drawn(value, secrets::says_digest(name), found);
  secrets::unite(found);
  masked_value out{std::string(value), found.size()};
  for (const auto& one : found) {
    for (auto at = one.begin; at < one.end; ++at) {
      if (out.text[at] != '\n' && out.text[at] != '\r') out.text[at] = '*';
    }
  }
  // A secret that ends within a character.
  if (!found.empty() && json::is_utf8(value) && !json::is_utf8(out.text)) return {std::string(whole_mask), found.size()};
  return out;
}

bool is_secret_name(std::string_view name) { return mask_value({}, name).count > 0; }

}  // namespace hondana::env
