/// Label by label.
#include "sources/metrics/masked.hpp"

#include "text/secrets/redactor.hpp"
#include "text/secrets/telling_names.hpp"

namespace hondana::metrics {
namespace {

std::size_t mask_in(std::string& text) {
  auto safe = secrets::redact_text(text);
  if (safe == text) return 0;
  text = std::move(safe);
  return 1;
}

std::size_t mask_labels(std::vector<series::label>& all) {
  std::size_t count = 0;
  for (auto& [name, value] : all) {
    auto safe = masked_label(name, value);
    if (safe == value) continue;
    value = std::move(safe);
    ++count;
  }
  return count;
}

}  // namespace

bool tells_secret(std::string_view label_name) { return secrets::told_by(label_name) == secrets::telling::strong; }

std::string masked_label(std::string_view name, std::string_view value) {
  if (tells_secret(name)) return std::string(value.size(), '*');
  return secrets::redact_text(value);
}

bool holds_secret(std::string_view name, std::string_view value) { return masked_label(name, value) != value; }

std::size_t mask(series::identity& of) { return mask_labels(of.labels); }

std::size_t mask(series::metadata& of) { return mask_in(of.help); }

std::size_t mask(range_answer& all) {
  std::size_t count = mask(all.of);
  for (auto& one : all.series) count += mask(one.of);
  for (auto& one : all.warnings) count += mask_in(one);
  return count;
}

std::size_t mask(alert& of) {
  std::size_t count = mask_labels(of.labels) + mask_in(of.expression);
  for (auto& [name, value] : of.annotations) count += mask_in(value);
  return count;
}

std::size_t mask(scraping::target_state& of) { return mask_in(of.url) + mask_in(of.last_error) + mask_in(of.instance); }

std::size_t mask(rule& of) { return mask_in(of.expression) + mask_in(of.last_error); }

}  // namespace hondana::metrics
