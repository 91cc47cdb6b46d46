/// Secrets in what metrics are labelled and described with.
#pragma once

#include <string>
#include <string_view>

#include "sources/metrics/backend.hpp"
#include "sources/metrics/series/sample.hpp"

namespace hondana::metrics {

/// The value of a label with asterisks over the secrets in it; all of it where the label's name says that it is one.
[[nodiscard]] std::string masked_label(std::string_view name, std::string_view value);
[[nodiscard]] bool holds_secret(std::string_view name, std::string_view value);
/// Whether the name alone says so.
[[nodiscard]] bool tells_secret(std::string_view label_name);

/// Masks in place. Returns how many values had secrets in them.
std::size_t mask(series::identity& of);
std::size_t mask(series::metadata& of);
std::size_t mask(range_answer& all);
std::size_t mask(alert& of);
std::size_t mask(scraping::target_state& of);
std::size_t mask(rule& of);

}  // namespace hondana::metrics
