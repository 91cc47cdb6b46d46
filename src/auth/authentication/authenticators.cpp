/// Authenticates callers by certificate or by local process, and combines several authenticators.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <hondana/authenticators.hpp>

#include "auth/authentication/bearer_tokens.hpp"

namespace hondana::authentication {
namespace {

std::string_view prefix_of(certificate_name_kind kind) {
  switch (kind) {
    case certificate_name_kind::dns:
      return "DNS:";
    case certificate_name_kind::email:
      return "email:";
    case certificate_name_kind::uri:
      return "URI:";
    case certificate_name_kind::subject:
      break;
  }
  return "";
}

class certificate_authenticator final : public authenticator {
 public:
  explicit certificate_authenticator(certificate_options options) : options_(std::move(options)) {
    for (const auto& [name, scopes] : options_.allowed_names) allowed_.insert_or_assign(name, scopes);
  }

  std::optional<auth_result> try_authenticate(const auth_request& request) override { return verify(request); }
  auth_result authenticate(const auth_request& request, std::chrono::steady_clock::time_point) override {
    return verify(request);
  }
  [[nodiscard]] bool accepts_tokens() const noexcept override { return false; }

 private:
  [[nodiscard]] auth_result verify(const auth_request& request) const {
    if (!request.certificate) return tl::unexpected(missing_credentials("present a client certificate", {}));
    for (const auto& name : names_of(*request.certificate)) {
      const auto allowed = allowed_.find(name);
      if (allowed == allowed_.end() && !allowed_.empty()) continue;
      return make_caller(request, name, allowed == allowed_.end() ? options_.scopes : allowed->second);
    }
    auth_rejection out;
    out.status = 403;
    out.description = allowed_.empty() ? "the certificate has no name of the required kind"
                                       : "the certificate is not one of the allowed ones";
    return tl::unexpected(std::move(out));
  }

  [[nodiscard]] std::vector<std::string> names_of(const peer_certificate& certificate) const {
    if (options_.name_kind == certificate_name_kind::subject) {
      return certificate.subject.empty() ? std::vector<std::string>() : std::vector<std::string>{certificate.subject};
    }
    const auto prefix = prefix_of(options_.name_kind);
    std::vector<std::string> out;
    for (const auto& name : certificate.alternative_names) {
      if (name.starts_with(prefix) && name.size() > prefix.size()) out.push_back(name.substr(prefix.size()));
    }
    return out;
  }

  [[nodiscard]] caller_info make_caller(const auth_request& request, const std::string& name,
                                        const std::vector<std::string>& scopes) const {
    value::array names;
    for (const auto& subject_name : request.certificate->alternative_names) names.emplace_back(subject_name);
    auto info = std::make_shared<auth_info>();
    info->scopes = scopes;
    info->claims = value(value::object{
        {"subject", request.certificate->subject}, {"names", std::move(names)}, {"sha256", request.certificate->sha256}});
    return {std::string(prefix_of(options_.name_kind)) + name, request.address, nullptr, std::move(info)};
  }

  const certificate_options options_;
  std::map<std::string, std::vector<std::string>, std::less<>> allowed_;
};

class peer_authenticator final : public authenticator {
 public:
  explicit peer_authenticator(const std::vector<std::pair<std::uint32_t, std::string>>& allowed)
      : allowed_(allowed.begin(), allowed.end()) {}

  std::optional<auth_result> try_authenticate(const auth_request& request) override { return verify(request); }
  auth_result authenticate(const auth_request& request, std::chrono::steady_clock::time_point) override {
    return verify(request);
  }
  [[nodiscard]] bool accepts_tokens() const noexcept override { return false; }

 private:
  [[nodiscard]] auth_result verify(const auth_request& request) const {
    if (!request.peer) return tl::unexpected(missing_credentials("connect through the Unix socket", {}));
    const auto user = allowed_.find(request.peer->uid);
    if (user != allowed_.end()) return caller_info{user->second, request.address, nullptr, nullptr};
    auth_rejection out;
    out.status = 403;
    out.description = "user " + std::to_string(request.peer->uid) + " is not one of the allowed users";
    return tl::unexpected(std::move(out));
  }

  const std::map<std::uint32_t, std::string> allowed_;
};

}  // namespace
}  // namespace hondana::authentication

namespace hondana::inline v0 {

result<std::shared_ptr<authenticator>> make_certificate_authenticator(certificate_options options) {
  const auto are_scopes = [](const std::vector<std::string>& scopes) {
    return std::all_of(scopes.begin(), scopes.end(), [](const std::string& scope) { return authentication::is_scope(scope); });
  };
  if (!are_scopes(options.scopes))
    return fail(errc::invalid_argument, "certificate_options::scopes: contains an invalid scope");
  std::set<std::string_view> seen;
  for (const auto& [name, scopes] : options.allowed_names) {
    if (name.empty() || !are_scopes(scopes) || !seen.insert(name).second)
      return fail(errc::invalid_argument,
                  "certificate_options::allowed_names: \"" + name + "\" is empty, named twice or has an invalid scope");
  }
  return std::shared_ptr<authenticator>(std::make_shared<authentication::certificate_authenticator>(std::move(options)));
}

result<std::shared_ptr<authenticator>> make_peer_authenticator(
    std::vector<std::pair<std::uint32_t, std::string>> allowed_users) {
  if (allowed_users.empty()) return fail(errc::invalid_argument, "no user is allowed; name at least one");
  for (const auto& [user, identity] : allowed_users) {
    if (identity.empty()) return fail(errc::invalid_argument, "user " + std::to_string(user) + " has no identity");
  }
  return std::shared_ptr<authenticator>(std::make_shared<authentication::peer_authenticator>(allowed_users));
}

}  // namespace hondana::inline v0

namespace hondana::authentication {
namespace {

using authenticator_list = std::vector<std::shared_ptr<authenticator>>;

/// Merges the rejections of several authenticators into one. `accepts_tokens`: a token alone is accepted, so prefer the advice
/// to send one.
auth_rejection merge_rejections(const std::vector<auth_rejection>& rejections, bool accepts_tokens) {
  const auto weight = [accepts_tokens](const auth_rejection& rejection) {
    if (rejection.status == 503) return 3;
    if (!rejection.error.empty()) return 2;
    return (rejection.status == 403) != accepts_tokens ? 1 : 0;
  };
  // A 503 comes first, because the request may succeed later. Next come rejections of credentials that were sent.
  const auto best = std::max_element(rejections.begin(), rejections.end(),
                                     [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
  auto out = *best;
  out.description.clear();
  std::vector<std::string> descriptions;
  for (const auto& rejection : rejections) {
    if (rejection.status == out.status) merge_scopes(out.scopes, rejection.scopes);
    if (weight(rejection) != weight(*best) || rejection.description.empty()) continue;
    if (std::find(descriptions.begin(), descriptions.end(), rejection.description) != descriptions.end()) continue;
    out.description += (descriptions.empty() ? "" : "; or ") + rejection.description;
    descriptions.push_back(rejection.description);
  }
  // A rejected certificate or process (403) is also explained, next to the advice to get a token.
  for (const auto& forbidden : rejections) {
    if (out.status != 401 || !out.error.empty() || forbidden.status != 403 || forbidden.description.empty()) continue;
    out.description += (out.description.empty() ? "" : "; ") + forbidden.description;
  }
  return out;
}

std::shared_ptr<const protected_resource> merged_metadata(const authenticator_list& authenticators) {
  std::shared_ptr<protected_resource> out;
  for (const auto& candidate : authenticators) {
    const auto metadata = candidate->metadata();
    if (!metadata) continue;
    if (!out) {
      out = std::make_shared<protected_resource>(*metadata);
      continue;
    }
    for (const auto& server : metadata->authorization_servers) {
      auto& servers = out->authorization_servers;
      if (std::find(servers.begin(), servers.end(), server) == servers.end()) servers.push_back(server);
    }
    merge_scopes(out->supported_scopes, metadata->supported_scopes);
  }
  return out;
}

class combined_authenticator final : public authenticator {
 public:
  combined_authenticator(authenticator_list token_authenticators, authenticator_list connection_authenticators)
      : token_authenticators_(std::move(token_authenticators)),
        connection_authenticators_(std::move(connection_authenticators)) {
    authenticators_ = connection_authenticators_;
    authenticators_.insert(authenticators_.end(), token_authenticators_.begin(), token_authenticators_.end());
    metadata_ = merged_metadata(authenticators_);
  }

  std::optional<auth_result> try_authenticate(const auth_request& request) override {
    std::vector<auth_rejection> rejections;
    for (const auto& candidate : candidates_for(request)) {
      auto outcome = candidate->try_authenticate(request);
      if (!outcome) return {};  // do not skip to the next one: the caller's identity would depend on timing
      if (*outcome) return outcome;
      rejections.push_back(std::move(outcome->error()));
    }
    return tl::unexpected(merge_rejections(rejections, !token_authenticators_.empty()));
  }

  auth_result authenticate(const auth_request& request, std::chrono::steady_clock::time_point deadline) override {
    std::vector<auth_rejection> rejections;
    for (const auto& candidate : candidates_for(request)) {
      auto outcome = candidate->try_authenticate(request);
      if (!outcome) outcome = candidate->authenticate(request, deadline);
      if (*outcome) return std::move(*outcome);
      rejections.push_back(std::move(outcome->error()));
    }
    return tl::unexpected(merge_rejections(rejections, !token_authenticators_.empty()));
  }

  [[nodiscard]] bool accepts_tokens() const noexcept override {
    return std::any_of(authenticators_.begin(), authenticators_.end(),
                       [](const auto& candidate) { return candidate->accepts_tokens(); });
  }
  [[nodiscard]] std::shared_ptr<const protected_resource> metadata() const override { return metadata_; }

 private:
  /// A request with a token is judged by the token alone. An expired token must not fall back to another identity.
  [[nodiscard]] const authenticator_list& candidates_for(const auth_request& request) const {
    if (!request.bearer_token || token_authenticators_.empty()) return authenticators_;
    return token_authenticators_;
  }

  const authenticator_list token_authenticators_;
  const authenticator_list connection_authenticators_;
  authenticator_list authenticators_;
  std::shared_ptr<const protected_resource> metadata_;
};

}  // namespace
}  // namespace hondana::authentication

namespace hondana::inline v0 {

result<std::shared_ptr<authenticator>> make_combined_authenticator(
    std::vector<std::shared_ptr<authenticator>> token_authenticators,
    std::vector<std::shared_ptr<authenticator>> connection_authenticators) {
  const auto has_null = [](const auto& authenticators) {
    return std::find(authenticators.begin(), authenticators.end(), nullptr) != authenticators.end();
  };
  if (has_null(token_authenticators) || has_null(connection_authenticators))
    return fail(errc::invalid_argument, "one of the authenticators is null");
  if (token_authenticators.size() + connection_authenticators.size() == 1)
    return token_authenticators.empty() ? connection_authenticators.front() : token_authenticators.front();
  if (token_authenticators.empty() && connection_authenticators.empty())
    return fail(errc::invalid_argument, "no authenticator is given");
  return std::shared_ptr<authenticator>(std::make_shared<authentication::combined_authenticator>(
      std::move(token_authenticators), std::move(connection_authenticators)));
}

}  // namespace hondana::inline v0
