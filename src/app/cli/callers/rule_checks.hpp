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

/// Warnings, "FILE:LINE: access.rule.identities: …", of identities that no way of telling callers apart gives, and of groups
/// where no token can name any. `tokens`: the file after --tokens; empty: as configured. `may_get_tokens`: such a flag may
/// still come, which matters where the configuration says nothing of callers.
[[nodiscard]] std::vector<std::string> unknown_callers(const config::settings& settings, const std::string& tokens,
                                                       bool may_get_tokens);
/// The same where the one caller is whoever has started the program: over standard input and output.
[[nodiscard]] std::vector<std::string> unknown_callers_of_stdio(const config::settings& settings);

/// Errors: invalid_argument, "FILE:LINE: auth.rule.uris: …" (or access.rule), for a prefix, template or pattern that lies in no
/// source and in which no source lies.
[[nodiscard]] result<void> check_reach(const config::settings& settings, const std::vector<std::shared_ptr<provider>>& sources);

/// Warnings of kinds in access rules that no source gives its entries; none where a source may give any.
[[nodiscard]] std::vector<std::string> unknown_kinds(const config::settings& settings,
                                                     const std::vector<std::shared_ptr<provider>>& sources);

/// Counts what the URIs of rules are about, while everything served goes by. Threads: one.
class rule_use {
 public:
  /// The rules have been found good.
  explicit rule_use(const config::settings& settings);
  /// The scopes that reading a canonical URI needs.
  [[nodiscard]] std::vector<std::string> of(std::string_view uri);
  /// A warning for each URI of a rule that was about nothing so far. Parts are not listed: it is about what these are of.
  [[nodiscard]] std::vector<std::string> idle() const;

 private:
  struct mention {
    std::size_t rule;
    bool is_used = false;
  };
  /// A URI or a pattern of an access rule.
  struct access_mention {
    std::size_t rule;
    std::string_view key;
    std::string written;
    hondana::access::rule alone;
    std::optional<hondana::access::rule> of_whole;  ///< About what its parts are of that it is about.
    bool is_used;
  };
  const config::settings& settings_;
  std::shared_ptr<const gate::gate> rules_;
  std::shared_ptr<const gate::gate> by_uri_;  // a rule for each URI of a rule, without its query
  std::vector<mention> mentions_;             // those
  std::vector<access_mention> access_mentions_;
};

}  // namespace hondana::cli
