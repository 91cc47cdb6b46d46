/// The provider that mounts another MCP server.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <hondana/mount.hpp>
#include <hondana/provider.hpp>

#include "protocol/model/provider_extensions.hpp"
#include "sources/mcp/upstream.hpp"

namespace hondana::mcp {

/// URIs and kinds of mounts in general, without a particular server.
[[nodiscard]] scheme_documentation describe_scheme();

/// Serves lists from the cached lists of the other server, and passes all other requests on.
class mcp_provider final : public provider, public model::mount {
 public:
  /// `options` must have been checked.
  explicit mcp_provider(mount_options options) : upstream_(std::move(options)) {}

  [[nodiscard]] std::string name() const override { return upstream_.options().name; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {upstream_.mapping().prefix()}; }
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] bool has_folders() const noexcept override { return true; }
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] bool has_skills() const noexcept override { return upstream_.options().serves_skills; }
  [[nodiscard]] result<skills_result> skills(const list_request& request) override;
  [[nodiscard]] result<skill> find_skill(const skill_request& request) override;
  [[nodiscard]] bool has_dynamic_templates() const noexcept override { return true; }
  [[nodiscard]] result<std::vector<resource_template>> current_templates(const request_context& request) override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  /// Also reports entries that are left out, and why. Errors: why the other server cannot be reached.
  [[nodiscard]] result<void> inventory(const request_context& request,
                                       const std::function<void(const inventory_item&)>& visit) override;
  void set_listener(std::shared_ptr<change_listener> listener) override { upstream_.set_listener(std::move(listener)); }
  void watch(const std::string& uri) override { upstream_.watch(uri); }
  void unwatch(const std::string& uri) override { upstream_.unwatch(uri); }
  /// The server receives each URI with its query, since it may notify changes of parts.
  [[nodiscard]] bool watches_parts() const noexcept override { return true; }
  void watch_list() override { upstream_.watch_list(); }
  void unwatch_list() override { upstream_.unwatch_list(); }
  [[nodiscard]] std::size_t max_concurrency() const noexcept override { return 16; }
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] hondana::secret_masking masking() const noexcept override {
    return upstream_.options().redact ? secret_masking::by_server : secret_masking::none;
  }
  [[nodiscard]] hondana::provider_health health() const override { return upstream_.health(); }
  /// The program to start, which gets `chain_variable` in its environment; null if there is none.
  [[nodiscard]] const child_target* program() const noexcept { return std::get_if<child_target>(&upstream_.options().target); }

 private:
  /// A request for one of our URIs, mapped to the other server.
  struct remote_request {
    std::shared_ptr<client> connection;
    std::string remote_uri;
    call_options options;
    upstream::pending_call pending;
  };
  /// Errors: resource_not_found for URIs that are not served; source_unavailable for a cycle, or if the server cannot be
  /// reached.
  [[nodiscard]] result<remote_request> map_request(const request_context& context, const std::string& uri);
  /// Records a failure, and converts it for the caller. `remote_uri`: the requested URI; may be empty.
  [[nodiscard]] failure handle_failure(const failure& error, const std::string& remote_uri);
  /// The entries under our URIs. They must have been sanitized. Skips entries whose URIs cannot be mapped.
  [[nodiscard]] std::vector<resource> to_local_entries(std::vector<resource> remote_entries) const;
  [[nodiscard]] result<read_result> read_if_changed(const remote_request& target, const read_request& request);
  [[nodiscard]] result<read_result> read_streamed(const remote_request& target, const read_request& request);
  [[nodiscard]] resource_content make_content(const received_content& received, const std::string& remote_uri) const;
  /// Whether a content that came with another resource, such as a file of a folder, is excluded by its own URI.
  [[nodiscard]] bool is_excluded(const received_content& received, const std::string& remote_uri) const;

  upstream upstream_;
};

}  // namespace hondana::mcp
