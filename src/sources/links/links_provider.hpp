/// The provider of configured `https://` links, which are listed but never fetched.
#pragma once

#include <string>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/entry_snapshot.hpp>
#include <hondana/provider.hpp>

namespace hondana::links {

/// Validates a configured link and normalizes it for `links_provider`: canonical URI, host in lower case, port 443 removed,
/// kind "link". An empty name becomes the URL.
/// Errors: invalid_argument for a URI that is malformed, is not `https://`, or has no host, a host that is not ASCII, or user
/// information. Error texts never repeat user information.
[[nodiscard]] result<resource> make_link(resource link);

/// Lists web pages that clients fetch themselves. `claims` are the URLs of the links.
///
/// Threads: any. Calls never block.
class links_provider final : public provider, public entry_source {
 public:
  /// `links`: results of `make_link`, at least one. Among links with equal URLs the last wins.
  explicit links_provider(std::vector<resource> links);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  /// Always fails: with fetch_directly for the URL of a link, with resource_not_found for any other URI.
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] provider_traits traits() const noexcept override;

 private:
  entry_snapshot links_;
};

}  // namespace hondana::links
