/// The provider that mounts another MCP server.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/mount.hpp>
#include <hondana/provider.hpp>

#include "protocol/model/provider_extensions.hpp"
#include "sources/mcp/upstream.hpp"

namespace hondana::mcp {

/// Describes URIs and kinds of mounts in general, without a particular server.
[[nodiscard]] scheme_documentation describe_scheme();

/// Serves lists from cached lists of the mounted server, and passes most other requests on to it. Threads: any.
class mcp_provider : public provider,
                     public entry_source,
                     public folder_source,
                     public dynamic_template_source,
                     public completion_source,
                     public inventory_source,
                     public change_source,
                     public part_watch_source,
                     public list_watch_source,
                     public health_source,
                     public model::mount {
 public:
  /// `options` must have passed `validate_options`.
  explicit mcp_provider(mount_options options) : upstream_(std::move(options)) {}

  [[nodiscard]] std::string name() const override { return upstream_.options().name; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {upstream_.mapping().prefix()}; }
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] result<std::vector<resource_template>> current_templates(const request_context& request) override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  /// Also reports items that are left out, and why: at most a thousand. Errors: why the mounted server cannot be reached;
  /// source_unavailable for a cycle of mounts; timed_out.
  [[nodiscard]] result<void> inventory(const request_context& request,
                                       const std::function<void(const inventory_item&)>& visit) override;
  void set_listener(std::shared_ptr<change_listener> listener) override { upstream_.set_listener(std::move(listener)); }
  /// The mounted server receives each watched URI with its query, since it may notify changes of parts.
  void watch(const std::string& uri) override { upstream_.watch(uri); }
  void unwatch(const std::string& uri) override { upstream_.unwatch(uri); }
  void watch_list() override { upstream_.watch_list(); }
  void unwatch_list() override { upstream_.unwatch_list(); }
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] provider_traits traits() const noexcept override {
    return {.max_concurrency = 16, .masking = upstream_.options().redact ? secret_masking::by_server : secret_masking::none};
  }
  [[nodiscard]] hondana::provider_health health() const override { return upstream_.health(); }
  /// Returns the program that runs the mounted server and gets `chain_variable` in its environment; null if there is none.
  [[nodiscard]] const child_target* program() const noexcept { return std::get_if<child_target>(&upstream_.options().target); }

 protected:
  /// A request for a local URI, ready to be sent to the mounted server.
  struct remote_request {
    std::shared_ptr<client> connection;
    std::string remote_uri;  // as the mounted server spells it
    call_options options;
    upstream::pending_call pending;
  };
  /// Maps a request for the local URI `uri`. Errors: resource_not_found for URIs that are not served; source_unavailable for a
  /// cycle; those of `upstream::ensure_connected`.
  [[nodiscard]] result<remote_request> map_request(const request_context& context, const std::string& uri);
  /// Records the failure of a call, and converts it for the caller. `remote_uri`: the requested URI; empty: none. If it is an
  /// https URI that the mounted server does not read, returns fetch_directly.
  [[nodiscard]] failure handle_failure(const failure& error, const std::string& remote_uri);

  upstream upstream_;

 private:
  /// Maps sanitized entries to local URIs, and sorts them. Skips duplicates, and entries that are excluded or cannot be mapped.
  [[nodiscard]] std::vector<resource> to_local_entries(std::vector<resource> remote_entries) const;
  /// Reads unless `cached_version`, which must be set, is current.
  [[nodiscard]] result<read_result> read_if_changed(const remote_request& target, const read_request& request);
  /// Reads any size, storing large contents in files.
  [[nodiscard]] result<read_result> read_streamed(const remote_request& target, const read_request& request);
  /// Makes a content without data. `remote_uri`: the requested URI.
  [[nodiscard]] resource_content make_content(const received_content& received, const std::string& remote_uri) const;
  /// Whether the filter excludes a received content by its own URI. It may differ from the requested `remote_uri`, for example
  /// for a file in a folder.
  [[nodiscard]] bool is_excluded(const received_content& received, const std::string& remote_uri) const;
};

/// As `mcp_provider`, with the skills of the mounted server. For `mount_options::serves_skills`.
class mcp_skill_provider final : public mcp_provider, public skill_source {
 public:
  using mcp_provider::mcp_provider;

  [[nodiscard]] result<skills_result> skills(const list_request& request) override;
  [[nodiscard]] result<skill> find_skill(const skill_request& request) override;
};

}  // namespace hondana::mcp
