/// Targets, alerts, rules and the list of metrics as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/backend.hpp"
#include "sources/metrics/names.hpp"

namespace hondana::metrics {

[[nodiscard]] std::string json_of(std::string_view source, const std::vector<scraping::target_state>& all);
[[nodiscard]] std::string json_of(std::string_view source, const std::vector<alert>& all);
[[nodiscard]] std::string json_of(std::string_view source, const std::vector<rule>& all);
/// `help` is masked already.
[[nodiscard]] std::string json_of(std::string_view source, const std::vector<metric>& all, bool are_more,
                                  series::duration interval);

/// What changes when a target goes up or down, and not with each scrape.
[[nodiscard]] std::string mark_of(const std::vector<scraping::target_state>& all);
[[nodiscard]] std::string mark_of(const std::vector<alert>& all);
[[nodiscard]] std::string mark_of(const std::vector<rule>& all);

}  // namespace hondana::metrics
