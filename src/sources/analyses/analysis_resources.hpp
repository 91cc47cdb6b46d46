/// Resources of analyses: their URIs, catalog entries, templates and scheme documentation.
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

enum class place : std::uint8_t { index, analysis, vote, flow, by_prompt, statistics };
enum class format : std::uint8_t { markdown, json };

inline constexpr std::size_t usual_index = 50;
inline constexpr std::size_t most_index = 500;
inline constexpr std::size_t id_digits = 32;

/// One of the URIs, read.
struct address {
  place of = place::index;
  format as = format::markdown;
  std::string id{};        ///< Of an analysis.
  std::string provider{};  ///< Of a vote.
  std::string prompt{};    ///< Its digest, 32 bytes.
  // Of the index.
  std::string session{};
  std::string tag{};
  std::optional<analyses::task_type> task{};
  std::string after{};  ///< An id; empty: from the newest on.
  std::size_t limit = usual_index;
};

inline constexpr std::string_view scheme_name = "wallbounce";
inline constexpr std::string_view index_uri = "wallbounce://analyses";
inline constexpr std::string_view analyses_prefix = "wallbounce://analyses/";
inline constexpr std::string_view by_prompt_claim = "wallbounce://by-prompt";
inline constexpr std::string_view by_prompt_prefix = "wallbounce://by-prompt/";
inline constexpr std::string_view statistics_uri = "wallbounce://statistics";

/// Reads a canonical URI. Errors: resource_not_found for what there can never be; invalid_argument, beginning with its name,
/// for a parameter that there is not, that is given twice or has a wrong value. Linear time.
[[nodiscard]] result<address> parse_address(std::string_view uri);

[[nodiscard]] std::string analysis_uri(std::string_view id);
[[nodiscard]] std::string flow_uri(std::string_view id);
[[nodiscard]] std::string vote_uri(std::string_view id, std::string_view provider);
/// `prompt`: the digest, 32 bytes.
[[nodiscard]] std::string by_prompt_uri(std::string_view prompt);
/// Of an index, with what is not as usual.
[[nodiscard]] std::string uri_of_index(const address& at);

/// Whether it has the form of an id: 32 lower-case hexadecimal digits.
[[nodiscard]] bool is_id(std::string_view text) noexcept;
/// Behind which id a list goes on after `key` (see `list_request::after`); nothing: none comes after it. Some of what follows
/// that id may still stand before the key.
[[nodiscard]] std::optional<std::string> id_behind(std::string_view key);

[[nodiscard]] scheme_documentation describe();
[[nodiscard]] std::vector<resource_template> templates();

/// How much an analysis matters: for one that is final its confidence, of which 0.6 halves with each week since it was put;
/// half of that when it is stale, a quarter below its thresholds, and 0.1 while it is computed. Two decimals; whole days count.
[[nodiscard]] double priority_of(const analyses::summary& of, analyses::instant now);

/// Of an analysis. `now`: whether it is stale, and how old.
[[nodiscard]] resource entry_of(const analyses::summary& of, analyses::instant now);
/// Of a part of it, or of what a digest of a prompt leads to.
[[nodiscard]] resource entry_of(const address& at, const analyses::summary& of, analyses::instant now);
[[nodiscard]] resource index_entry();
[[nodiscard]] resource statistics_entry();

[[nodiscard]] std::string_view mime_of(format as) noexcept;
/// Changes with all that a reading of it says.
[[nodiscard]] std::string version_of(const analyses::summary& of, bool is_stale);

}  // namespace hondana::analyses_source
