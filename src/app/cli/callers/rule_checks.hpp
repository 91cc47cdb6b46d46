/// Checks for rules that have no effect: about callers that cannot exist, or URIs that are never served.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "server/access/rules.hpp"
#include "server/gate/gate.hpp"
#include "sources/config/settings.hpp"

namespace hondana::cli {

/// Warnings of the form "FILE:LINE: access.rule.identities: …" about identities that no authentication method creates, that no
/// token in the token file has, or that [auth.unix] does not accept. Also about groups and scopes that no caller can have.
/// Reads the token file. `token_file`: the file after --tokens; empty: that of the configuration.
/// `may_get_tokens`: a later command may use --tokens, so token identities are possible without configured authentication.
[[nodiscard]] std::vector<std::string> unknown_caller_warnings(const config::settings& settings, const std::string& token_file,
                                                               bool may_get_tokens);
/// Why no caller can have this identity; empty if one can. `token_file`: as in `unknown_caller_warnings`.
[[nodiscard]] std::string unknown_caller_reason(const config::settings& settings, const std::string& token_file,
                                                const std::string& identity);
/// As `unknown_caller_warnings`, for a server over standard input and output, whose only caller is "local".
[[nodiscard]] std::vector<std::string> unknown_stdio_caller_warnings(const config::settings& settings);

/// Checks that every URI prefix, template and pattern in rules overlaps with a source. Errors: invalid_argument of the form
/// "FILE:LINE: auth.rule.uris: …" (or access.rule).
[[nodiscard]] result<void> check_rule_targets(const config::settings& settings,
                                              const std::vector<std::shared_ptr<provider>>& sources);

/// Warnings about kinds in access rules that no source gives its entries. Empty if a source may use any kind.
[[nodiscard]] std::vector<std::string> unknown_kind_warnings(const config::settings& settings,
                                                             const std::vector<std::shared_ptr<provider>>& sources);

/// Records which URIs and patterns of rules match listed resources. Threads: one.
class rule_usage {
 public:
  /// `settings` must have passed the checks of rules, and must outlive this object.
  explicit rule_usage(const config::settings& settings);
  /// Marks the URIs and patterns that match a canonical URI as used. Returns the scopes that reading it needs.
  [[nodiscard]] std::vector<std::string> record_uri(std::string_view uri);
  /// A warning for each URI or pattern that is not used. Parts of resources are not listed, so one with a query counts as used
  /// if its resource was listed.
  [[nodiscard]] std::vector<std::string> unused_warnings() const;

 private:
  /// A URI of a scope rule.
  struct mention {
    std::size_t rule_index;
    bool is_used = false;
  };
  /// A URI or a pattern of an access rule.
  struct access_mention {
    std::size_t rule_index;
    std::string_view key;
    std::string text;
    hondana::access::rule matcher;
    std::optional<hondana::access::rule> whole_matcher;  ///< Matches the resources whose parts the pattern matches.
    bool is_used;
  };
  const config::settings& settings_;
  std::shared_ptr<const gate::gate> gate_;
  std::shared_ptr<const gate::gate> uri_gate_;  // one rule for each URI of a scope rule, without its query
  std::vector<mention> mentions_;               // in the order of the rules in `uri_gate_`
  std::vector<access_mention> access_mentions_;
};

}  // namespace hondana::cli
