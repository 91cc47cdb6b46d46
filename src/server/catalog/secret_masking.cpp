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

void mask_text(std::string& text) { secrets::redactor(secrets::masking_policy::text, {}).mask(text); }

template <class Entry>
void mask_entry(Entry& entry) {
  mask_text(entry.name);
  mask_text(entry.title);
  mask_text(entry.description);
}

}  // namespace

void mask_secrets(secret_masking mode, read_result& reading, std::string_view requested_uri) {
  if (mode != secret_masking::by_server) return;
  std::vector<secrets::span> spans;
  for (auto& content : reading.contents) {
    mask_text(content.name);
    mask_text(content.title);
    const auto policy = secrets::policy_of_uri(content.uri ? std::string_view(*content.uri) : requested_uri);
    if (auto* reader = std::get_if<std::shared_ptr<byte_reader>>(&content.data)) {
      if (*reader) *reader = std::make_shared<secrets::masking_reader>(std::move(*reader), policy);
      continue;
    }
    auto& data = std::get<shared_bytes>(content.data);
    if (!data) continue;
    const secrets::redactor redactor(policy, *data);
    redactor.find(*data, spans);
    if (spans.empty()) continue;
    auto copy = std::make_shared<std::string>(*data);
    for (auto& entry : secrets::redaction_metadata(redactor.mask(*copy))) content.metadata.push_back(std::move(entry));
    data = std::move(copy);
    content.is_validated = false;
  }
}

void mask_secrets(secret_masking mode, resource& entry) {
  if (mode == secret_masking::by_server) mask_entry(entry);
}

void mask_secrets(secret_masking mode, std::vector<resource>& entries) {
  if (mode != secret_masking::by_server) return;
  for (auto& entry : entries) mask_entry(entry);
}

void mask_secrets(secret_masking mode, resource_template& entry) {
  if (mode == secret_masking::by_server) mask_entry(entry);
}

void mask_secrets(secret_masking mode, complete_result& completions) {
  if (mode != secret_masking::by_server) return;
  for (auto& value : completions.values) mask_text(value);
}

void mask_secrets(secret_masking mode, skill& entry) {
  if (mode == secret_masking::by_server)
    entry.frontmatter = secrets::redact_value(entry.frontmatter, secrets::masking_policy::text);
}

void mask_secrets(secret_masking mode, std::string& text) {
  if (mode == secret_masking::by_server) mask_text(text);
}

}  // namespace hondana::catalog
