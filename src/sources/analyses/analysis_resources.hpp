/// Resources of analyses: their URIs, catalog entries, resource templates and scheme documentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/analyses/cache/analysis.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses_source {

/// The kinds of URIs of this source.
enum class resource_kind : std::uint8_t {
  index,      ///< wallbounce://analyses: a list of analyses.
  analysis,   ///< wallbounce://analyses/{id}
  vote,       ///< wallbounce://analyses/{id}/votes/{provider}
  flow,       ///< wallbounce://analyses/{id}/flow: rounds, steps and errors.
  by_prompt,  ///< wallbounce://by-prompt/{digest}: the newest final analysis of a prompt.
  statistics  ///< wallbounce://statistics
};
enum class output_format : std::uint8_t { markdown, json };

inline constexpr std::size_t default_index_limit = 50;  ///< Analyses on a page of the index.
inline constexpr std::size_t max_index_limit = 500;
inline constexpr std::size_t id_digits = 32;

/// A parsed URI.
struct address {
  resource_kind kind = resource_kind::index;
  output_format format = output_format::markdown;
  std::string id{};             ///< With `analysis`, `vote` and `flow`.
  std::string provider{};       ///< With `vote`.
  std::string prompt_digest{};  ///< With `by_prompt`: `question_key::prompt_digest`, 32 bytes.
  // With `index`. Empty: analyses of any session, tag or task type.
  std::string session{};
  std::string tag{};
  std::optional<analyses::task_type> task{};
  std::string after_id{};  ///< The list continues after this id. Empty: it begins with the newest analysis.
  std::size_t limit = default_index_limit;
};

inline constexpr std::string_view scheme_name = "wallbounce";
inline constexpr std::string_view index_uri = "wallbounce://analyses";
inline constexpr std::string_view analyses_prefix = "wallbounce://analyses/";
inline constexpr std::string_view by_prompt_base_uri = "wallbounce://by-prompt";
inline constexpr std::string_view by_prompt_prefix = "wallbounce://by-prompt/";
inline constexpr std::string_view statistics_uri = "wallbounce://statistics";

/// Parses a canonical URI in linear time. Errors: resource_not_found for URIs that this source never serves; those of
/// `uri::parse_query`.
[[nodiscard]] result<address> parse_address(std::string_view uri);

[[nodiscard]] std::string analysis_uri(std::string_view id);
[[nodiscard]] std::string flow_uri(std::string_view id);
[[nodiscard]] std::string vote_uri(std::string_view id, std::string_view provider);
/// `prompt_digest`: `question_key::prompt_digest`, 32 bytes.
[[nodiscard]] std::string by_prompt_uri(std::string_view prompt_digest);
/// The URI of an index page, with the parameters that differ from the defaults.
[[nodiscard]] std::string index_page_uri(const address& address);

/// Whether the text has the form of an id: 32 lower-case hexadecimal digits.
[[nodiscard]] bool is_id(std::string_view text) noexcept;
/// Returns the id after which `analysis_store::list` must continue to find all analyses whose URIs sort after `key`, a
/// `list_request::after_key`. It may also find URIs up to `key`, which the caller must skip. Empty string: from the newest.
/// nullopt: no analysis sorts after `key`.
[[nodiscard]] std::optional<std::string> list_start_id(std::string_view key);

[[nodiscard]] scheme_documentation make_documentation();
[[nodiscard]] std::vector<resource_template> make_templates();

/// Computes the priority of an analysis, rounded to two decimals. Final: confidence × (0.4 + 0.6 × 2^(−days / 7)), where days
/// are whole days since its last change. Stale: half of that. Below its thresholds: a quarter. Being computed: 0.1.
[[nodiscard]] double priority_of(const analyses::analysis_summary& summary, analyses::instant now);

/// Makes the entry of an analysis. `now` determines its age and whether it is stale.
[[nodiscard]] resource make_entry(const analyses::analysis_summary& summary, analyses::instant now);
/// Makes the entry of an analysis, a vote, a flow or a by-prompt URI in the format of `address`.
[[nodiscard]] resource make_entry(const address& address, const analyses::analysis_summary& summary, analyses::instant now);
[[nodiscard]] resource index_entry();
[[nodiscard]] resource statistics_entry();

[[nodiscard]] std::string_view mime_type_of(output_format format) noexcept;
/// A version that changes when the analysis changes or becomes stale.
[[nodiscard]] std::string version_of(const analyses::analysis_summary& summary, bool is_stale);

}  // namespace hondana::analyses_source
