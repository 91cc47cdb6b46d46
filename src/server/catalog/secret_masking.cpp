/// Masks secrets for sources that leave this to the server.
#include "server/catalog/secret_masking.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/secrets/masking_reader.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::catalog {
namespace {

bool is_ours(const provider& of) noexcept { return of.masking() == masking::by_server; }

void mask_text(std::string& text) { secrets::redactor(secrets::policy::text, {}).mask(text); }

template <class Entry>
void mask_entry(Entry& entry) {
  mask_text(entry.name);
  mask_text(entry.title);
  mask_text(entry.description);
}

}  // namespace

void mask_secrets(const provider& of, reading& found, std::string_view asked_uri) {
  if (!is_ours(of)) return;
  std::vector<secrets::span> spans;
  for (auto& one : found.contents) {
    mask_text(one.name);
    mask_text(one.title);
    const auto policy = secrets::policy_of_uri(one.uri.empty() ? asked_uri : std::string_view(one.uri));
    if (auto* reader = std::get_if<std::shared_ptr<byte_reader>>(&one.data)) {
      if (*reader) *reader = std::make_shared<secrets::masking_reader>(std::move(*reader), policy);
      continue;
    }
    auto& whole = std::get<shared_bytes>(one.data);
    if (!whole) continue;
    const secrets::redactor by(policy, *whole);
    by.find(*whole, spans);
    if (spans.empty()) continue;
    auto copy = std::make_shared<std::string>(*whole);
    for (auto& fact : secrets::facts_of(by.mask(*copy))) one.metadata.push_back(std::move(fact));
    whole = std::move(copy);
    one.is_checked = false;
  }
}

void mask_secrets(const provider& of, resource& entry) {
  if (is_ours(of)) mask_entry(entry);
}

void mask_secrets(const provider& of, std::vector<resource>& entries) {
  if (!is_ours(of)) return;
  for (auto& one : entries) mask_entry(one);
}

void mask_secrets(const provider& of, resource_template& entry) {
  if (is_ours(of)) mask_entry(entry);
}

void mask_secrets(const provider& of, complete_result& found) {
  if (!is_ours(of)) return;
  for (auto& one : found.values) mask_text(one);
}

void mask_secrets(const provider& of, skill& entry) {
  if (is_ours(of)) entry.frontmatter = secrets::redact_value(entry.frontmatter, secrets::policy::text);
}

void mask_secrets(masking by, std::string& text) {
  if (by == masking::by_server) mask_text(text);
}

}  // namespace hondana::catalog
