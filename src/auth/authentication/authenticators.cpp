/// Authenticates callers by certificate or by local process, and combines several authenticators.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <hondana/authenticators.hpp>

#include "auth/authentication/bearer_tokens.hpp"

namespace hondana::authentication {
namespace {

std::string_view prefix_of(certificate_name kind) {
  switch (kind) {
    case certificate_name::dns:
      return "DNS:";
    case certificate_name::email:
      return "email:";
    case certificate_name::uri:
      return "URI:";
    case certificate_name::subject:
      break;
  }
  return "";
}

class certificates final : public authenticator {
 public:
  explicit certificates(certificate_options options) : options_(std::move(options)) {
    for (const auto& [name, scopes] : options_.allowed) allowed_.insert_or_assign(name, scopes);
  }

  std::optional<authenticated> known(const request_facts& of) override { return judged(of); }
  authenticated find_out(const request_facts& of, std::chrono::steady_clock::time_point) override { return judged(of); }
  [[nodiscard]] bool takes_tokens() const noexcept override { return false; }

 private:
  [[nodiscard]] authenticated judged(const request_facts& of) const {
    if (!of.certificate) return tl::unexpected(nothing_sent("present a client certificate", {}));
    for (const auto& name : names_of(*of.certificate)) {
      const auto found = allowed_.find(name);
      if (found == allowed_.end() && !allowed_.empty()) continue;
      return admitted(of, name, found == allowed_.end() ? options_.scopes : found->second);
    }
    challenge out;
    out.status = 403;
    out.description = allowed_.empty() ? "the certificate has no name of the required kind"
                                       : "the certificate is not one of the allowed ones";
    return tl::unexpected(std::move(out));
  }

  [[nodiscard]] std::vector<std::string> names_of(const peer_certificate& shown) const {
    if (options_.by == certificate_name::subject) {
      return shown.subject.empty() ? std::vector<std::string>() : std::vector<std::string>{shown.subject};
    }
    const auto prefix = prefix_of(options_.by);
    std::vector<std::string> out;
    for (const auto& one : shown.names) {
      if (one.starts_with(prefix) && one.size() > prefix.size()) out.push_back(one.substr(prefix.size()));
    }
    return out;
  }

  [[nodiscard]] caller admitted(const request_facts& of, const std::string& name,
                                const std::vector<std::string>& scopes) const {
    value::array names;
    for (const auto& one : of.certificate->names) names.emplace_back(one);
    auto proved = std::make_shared<proof>();
    proved->scopes = scopes;
    proved->claims = value(
        value::object{{"subject", of.certificate->subject}, {"names", std::move(names)}, {"sha256", of.certificate->sha256}});
    return {std::string(prefix_of(options_.by)) + name, of.address, nullptr, std::move(proved)};
  }

  const certificate_options options_;
  std::map<std::string, std::vector<std::string>, std::less<>> allowed_;
};

class processes final : public authenticator {
 public:
  explicit processes(const std::vector<std::pair<std::uint32_t, std::string>>& allowed)
      : allowed_(allowed.begin(), allowed.end()) {}

  std::optional<authenticated> known(const request_facts& of) override { return judged(of); }
  authenticated find_out(const request_facts& of, std::chrono::steady_clock::time_point) override { return judged(of); }
  [[nodiscard]] bool takes_tokens() const noexcept override { return false; }

 private:
  [[nodiscard]] authenticated judged(const request_facts& of) const {
    if (!of.process) return tl::unexpected(nothing_sent("connect through the Unix socket", {}));
    const auto found = allowed_.find(of.process->user);
    if (found != allowed_.end()) return caller{found->second, of.address, nullptr, nullptr};
    challenge out;
    out.status = 403;
    out.description = "user " + std::to_string(of.process->user) + " is not one of the allowed users";
    return tl::unexpected(std::move(out));
  }

  const std::map<std::uint32_t, std::string> allowed_;
};

}  // namespace
}  // namespace hondana::authentication

namespace hondana::inline v0 {

result<std::shared_ptr<authenticator>> make_certificate_authenticator(certificate_options options) {
  const auto are_scopes = [](const std::vector<std::string>& all) {
    return std::all_of(all.begin(), all.end(), [](const std::string& one) { return authentication::is_scope(one); });
  };
  if (!are_scopes(options.scopes))
    return fail(errc::invalid_argument, "certificate_options::scopes: contains an invalid scope");
  std::set<std::string_view> seen;
  for (const auto& [name, scopes] : options.allowed) {
    if (name.empty() || !are_scopes(scopes) || !seen.insert(name).second)
      return fail(errc::invalid_argument,
                  "certificate_options::allowed: \"" + name + "\" is empty, named twice or has an invalid scope");
  }
  return std::shared_ptr<authenticator>(std::make_shared<authentication::certificates>(std::move(options)));
}

result<std::shared_ptr<authenticator>> make_process_authenticator(std::vector<std::pair<std::uint32_t, std::string>> allowed) {
  if (allowed.empty()) return fail(errc::invalid_argument, "no user is allowed; name at least one");
  for (const auto& [user, identity] : allowed) {
    if (identity.empty()) return fail(errc::invalid_argument, "user " + std::to_string(user) + " has no identity");
  }
  return std::shared_ptr<authenticator>(std::make_shared<authentication::processes>(allowed));
}

}  // namespace hondana::inline v0

namespace hondana::authentication {
namespace {

using authenticator_list = std::vector<std::shared_ptr<authenticator>>;

/// Merges the rejections of several authenticators into one. `takes_tokens`: a token alone is accepted, so prefer the advice to
/// send one.
challenge merged(const std::vector<challenge>& all, bool takes_tokens) {
  const auto weight = [takes_tokens](const challenge& one) {
    if (one.status == 503) return 3;
    if (!one.error.empty()) return 2;
    return (one.status == 403) != takes_tokens ? 1 : 0;
  };
  // A 503 comes first, because the request may succeed later. Next come rejections of credentials that were sent.
  const auto best =
      std::max_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
  auto out = *best;
  out.description.clear();
  std::vector<std::string> said;
  for (const auto& one : all) {
    if (one.status == out.status) merge_scopes(out.scopes, one.scopes);
    if (weight(one) != weight(*best) || one.description.empty()) continue;
    if (std::find(said.begin(), said.end(), one.description) != said.end()) continue;
    out.description += (said.empty() ? "" : "; or ") + one.description;
    said.push_back(one.description);
  }
  // A rejected certificate or process (403) is also explained, next to the advice to get a token.
  for (const auto& one : all) {
    if (out.status != 401 || !out.error.empty() || one.status != 403 || one.description.empty()) continue;
    out.description += (out.description.empty() ? "" : "; ") + one.description;
  }
  return out;
}

std::shared_ptr<const protected_resource> merged_metadata(const authenticator_list& all) {
  std::shared_ptr<protected_resource> out;
  for (const auto& one : all) {
    const auto its = one->metadata();
    if (!its) continue;
    if (!out) {
      out = std::make_shared<protected_resource>(*its);
      continue;
    }
    for (const auto& server : its->authorization_servers) {
      auto& servers = out->authorization_servers;
      if (std::find(servers.begin(), servers.end(), server) == servers.end()) servers.push_back(server);
    }
    merge_scopes(out->scopes, its->scopes);
  }
  return out;
}

class any_of_several final : public authenticator {
 public:
  any_of_several(authenticator_list by_token, authenticator_list by_connection)
      : by_token_(std::move(by_token)), by_connection_(std::move(by_connection)) {
    all_ = by_connection_;
    all_.insert(all_.end(), by_token_.begin(), by_token_.end());
    metadata_ = merged_metadata(all_);
  }

  std::optional<authenticated> known(const request_facts& of) override {
    std::vector<challenge> refusals;
    for (const auto& one : asked_about(of)) {
      auto said = one->known(of);
      if (!said) return {};  // do not skip to the next one: the caller's identity would depend on timing
      if (*said) return said;
      refusals.push_back(std::move(said->error()));
    }
    return tl::unexpected(merged(refusals, !by_token_.empty()));
  }

  authenticated find_out(const request_facts& of, std::chrono::steady_clock::time_point deadline) override {
    std::vector<challenge> refusals;
    for (const auto& one : asked_about(of)) {
      auto said = one->known(of);
      if (!said) said = one->find_out(of, deadline);
      if (*said) return std::move(*said);
      refusals.push_back(std::move(said->error()));
    }
    return tl::unexpected(merged(refusals, !by_token_.empty()));
  }

  [[nodiscard]] bool takes_tokens() const noexcept override {
    return std::any_of(all_.begin(), all_.end(), [](const auto& one) { return one->takes_tokens(); });
  }
  [[nodiscard]] std::shared_ptr<const protected_resource> metadata() const override { return metadata_; }

 private:
  /// A request with a token is judged by the token alone. An expired token must not fall back to another identity.
  [[nodiscard]] const authenticator_list& asked_about(const request_facts& of) const {
    if (!of.bearer || by_token_.empty()) return all_;
    return by_token_;
  }

  const authenticator_list by_token_;
  const authenticator_list by_connection_;
  authenticator_list all_;
  std::shared_ptr<const protected_resource> metadata_;
};

}  // namespace
}  // namespace hondana::authentication

namespace hondana::inline v0 {

result<std::shared_ptr<authenticator>> make_any_authenticator(std::vector<std::shared_ptr<authenticator>> by_token,
                                                              std::vector<std::shared_ptr<authenticator>> by_connection) {
  const auto has_null = [](const auto& all) { return std::find(all.begin(), all.end(), nullptr) != all.end(); };
  if (has_null(by_token) || has_null(by_connection)) return fail(errc::invalid_argument, "one of the authenticators is null");
  if (by_token.size() + by_connection.size() == 1) return by_token.empty() ? by_connection.front() : by_token.front();
  if (by_token.empty() && by_connection.empty()) return fail(errc::invalid_argument, "no authenticator is given");
  return std::shared_ptr<authenticator>(
      std::make_shared<authentication::any_of_several>(std::move(by_token), std::move(by_connection)));
}

}  // namespace hondana::inline v0
