/// Makes entries of a batch.
#include "sources/metrics/host/gathering.hpp"

#include <algorithm>

namespace hondana::host {
namespace {

std::string as_utf8(std::string text) {
  if (series::is_utf8(text)) return text;
  std::replace_if(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return text;
}

}  // namespace

void gathering::add(std::string_view name, series::kind of, std::string_view help, double value,
                    std::vector<series::label> labels) {
  if (count_ >= most_samples) return;
  series::identity identity{std::string(name), std::move(labels)};
  for (auto& one : identity.labels) one.second = as_utf8(std::move(one.second));
  if (!series::normalise(identity)) return;
  ++count_;
  if (into_.families.find(name) == into_.families.end())
    into_.families.emplace(identity.name, series::metadata{of, std::string(series::unit_in(name)), std::string(help)});
  into_.entries.push_back({std::move(identity), {now_, value}});
}

}  // namespace hondana::host
