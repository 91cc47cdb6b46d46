/// Warns of rules that protect nothing: for callers that cannot exist, or URIs that are never served.
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

/// Warnings of the form "FILE:LINE: access.rule.identities: …" for identities that no authentication method creates, and for
/// groups if no token can carry any.
/// `token_file`: the file after --tokens; empty: the configured one. `may_get_tokens`: a later --tokens flag is possible, which
/// matters if the configuration does not set up authentication.
[[nodiscard]] std::vector<std::string> unknown_caller_warnings(const config::settings& settings, const std::string& token_file,
                                                               bool may_get_tokens);
/// Why no caller can have this identity, in the same words; empty if one can.
[[nodiscard]] std::string unknown_caller_reason(const config::settings& settings, const std::string& token_file,
                                                const std::string& identity);
/// Does the same for standard input and output, where the only caller is "local".
[[nodiscard]] std::vector<std::string> unknown_stdio_caller_warnings(const config::settings& settings);

/// Checks that every URI prefix, template and pattern in rules overlaps with a source. Errors: invalid_argument of the form
/// "FILE:LINE: auth.rule.uris: …" (or access.rule).
[[nodiscard]] result<void> check_rule_targets(const config::settings& settings,
                                              const std::vector<std::shared_ptr<provider>>& sources);

/// Warnings about kinds in access rules that no source gives its entries. Empty if a source may use any kind.
[[nodiscard]] std::vector<std::string> unknown_kind_warnings(const config::settings& settings,
                                                             const std::vector<std::shared_ptr<provider>>& sources);

/// Records which URIs and patterns of rules match the served resources. Threads: one.
class rule_usage {
 public:
  /// `settings` must have passed the checks of rules, and must outlive this object.
  explicit rule_usage(const config::settings& settings);
  /// Returns the scopes that reading a canonical URI needs, and marks the rules that match it as used.
  [[nodiscard]] std::vector<std::string> record_uri(std::string_view uri);
  /// A warning for each URI or pattern that has matched nothing so far. Parts of resources are not listed, so a URI with a
  /// query counts as used if its resource was listed.
  [[nodiscard]] std::vector<std::string> unused_warnings() const;

 private:
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
