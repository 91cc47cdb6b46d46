/// The provider of a Google Drive source.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/webhook.hpp>

#include "protocol/model/provider_extensions.hpp"
#include "protocol/model/watched_aliases.hpp"
#include "sources/gdrive/address.hpp"
#include "sources/gdrive/fetcher.hpp"
#include "sources/gdrive/follower.hpp"

namespace hondana::gdrive {

/// Settings and dependencies of a `gdrive_provider`.
struct provider_options {
  std::string name = "gdrive";
  std::string scheme = "gdrive";
  std::shared_ptr<drive_api> api{};
  std::shared_ptr<const rendering::renderer> renderer{};  ///< Null: nothing is rendered.
  rendering::limits render_limits{};
  std::string store_path{};  ///< Path of the cache file; empty: in memory.
  std::uint64_t max_cached_bytes = 256ull << 20;
  std::uint64_t max_bytes = 64ull << 20;
  std::vector<std::string> drive_slugs{};  ///< Slugs; empty: all.
  bool has_shared_drives = true;
  std::chrono::milliseconds min_interval{10'000}, max_interval{60'000};  ///< As `follower_options`.
  std::size_t max_files = 100'000;
  std::chrono::milliseconds first_list_timeout{20'000};  ///< Longest wait of a list during the first listing of Drive.
  std::chrono::milliseconds freshness_ttl{
      2'000};  ///< For this long after a poll, reads do not check whether a file has changed.
  bool redact = true;
  std::function<std::string()> account_id{};  ///< As `follower_options::account_id`.
  /// Whether the key or log-in is usable now. Null: always. Errors: invalid_argument. Threads: any.
  std::function<result<void>()> credential_check{};
  /// This server's public https: address, without a path; empty: Drive is not asked for notifications.
  std::string notification_url{};
  std::vector<std::string> private_folders{};  ///< Folders with credentials, for `requirements`.
  std::vector<std::string> extra_addresses{};  ///< `host:port` of servers other than Drive's, for `requirements`.
  std::function<void(std::string_view)> log{};
};

/// Lists files from a local copy of the file list, which its own thread keeps up to date. Reads request contents from Drive.
/// Threads: any.
class gdrive_provider final : public provider,
                              public webhook_receiver,
                              public model::listening_observer,
                              public model::private_folder_owner {
 public:
  /// Errors: source_unavailable if the store cannot be used.
  [[nodiscard]] static result<std::shared_ptr<gdrive_provider>> open(provider_options options);
  ~gdrive_provider() override;

  [[nodiscard]] std::string name() const override { return options_.name; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {options_.scheme + "://"}; }
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] bool has_folders() const noexcept override { return true; }
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  [[nodiscard]] result<void> inventory(const request_context& request,
                                       const std::function<void(const inventory_item&)>& visitor) override;
  void set_listener(std::shared_ptr<change_listener> listener) override;
  void watch(const std::string& uri) override;
  void unwatch(const std::string& uri) override;
  void watch_list() override;
  [[nodiscard]] std::size_t max_concurrency() const noexcept override { return 8; }
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] hondana::secret_masking masking() const noexcept override {
    return options_.redact ? secret_masking::by_server : secret_masking::none;
  }
  [[nodiscard]] hondana::provider_health health() const override { return follower_.health(); }
  [[nodiscard]] bool accepts_webhooks() const noexcept override { return !options_.notification_url.empty(); }
  [[nodiscard]] bool handle_webhook(const webhook_request& request) override { return follower_.handle_webhook(request); }
  void on_server_listening() override { follower_.on_server_listening(); }
  [[nodiscard]] std::vector<std::string> private_folders() const override { return options_.private_folders; }

 private:
  using shared_snapshot = std::shared_ptr<const snapshot>;
  /// A requested file.
  struct requested_file {
    shared_item item{};
    std::string uri{};         ///< The listed URI; empty if the file is not listed.
    std::string target_uri{};  ///< The listed URI of the target, if the request was for a shortcut.
    bool is_offline = false;   ///< Drive was unreachable.
    failure offline_reason{};  ///< Why it was unreachable.
  };
  gdrive_provider(provider_options options, std::shared_ptr<drive_store> store);
  [[nodiscard]] result<shared_snapshot> wait_for_snapshot(const request_context& request);
  /// Errors: resource_not_found, and those of Drive for files that are not listed.
  [[nodiscard]] result<requested_file> find(const snapshot& snapshot, const address& requested,
                                            const request_context& request) const;
  [[nodiscard]] result<requested_file> find_by_id(const snapshot& snapshot, const std::string& id, const std::string& key,
                                                  const request_context& request) const;
  /// Whether a caller may access a file that is not listed. Rules must allow its URI by id and the URI that it would be listed
  /// by.
  [[nodiscard]] bool may_access_unlisted(const snapshot& snapshot, const item& item, const caller_info& caller) const;
  /// The entries by which access rules for the parts of a file are checked.
  /// For a listed file: its entry, and if it has moved since, an entry for its new place. For an unlisted file: an entry by id,
  /// and one by place.
  [[nodiscard]] std::vector<resource> access_entries(const snapshot& snapshot, const item& item, const std::string& uri) const;
  /// Resolves shortcuts. Errors: resource_not_found; invalid_argument for a cycle.
  [[nodiscard]] result<requested_file> follow_shortcuts(const snapshot& snapshot, requested_file requested,
                                                        const request_context& request) const;
  /// Whether `caller` may read each file on the way to a shortcut's target, as far as these are or were listed.
  [[nodiscard]] static bool may_follow(const snapshot& snapshot, const item& item, const caller_info& caller);
  /// Whether a caller may see an entry of a list. For a shortcut, its target must be readable, too.
  [[nodiscard]] static bool is_listed_for(const snapshot& snapshot, const resource& entry, const caller_info& caller);
  /// Whether a served file has moved to a place that is not served, or may not be.
  [[nodiscard]] bool has_moved_out(const snapshot& snapshot, const drive::file& file, const item& previous) const;
  /// Checks the current state of the file with Drive. Errors: resource_not_found if it no longer exists.
  [[nodiscard]] result<requested_file> refresh_file(const snapshot& snapshot, requested_file requested,
                                                    const request_context& request);
  /// Records that Drive denies access to a file or its content, so that no cached content is served later.
  void record_denial(const requested_file& requested, const drive::drive_error& error, bool is_content_error);
  [[nodiscard]] result<read_result> read_file(const snapshot& snapshot, const address& requested, const read_request& request);
  [[nodiscard]] result<read_result> read_folder(const snapshot& snapshot, const std::string& uri, const read_request& request);
  [[nodiscard]] result<read_result> read_list(const snapshot& snapshot, address::resource_kind kind,
                                              const caller_info& caller) const;
  [[nodiscard]] std::vector<resource> root_entries(const snapshot& snapshot) const;
  [[nodiscard]] result<list_result> list_children(const snapshot& snapshot, const std::string& uri,
                                                  const children_request& request) const;
  [[nodiscard]] complete_result complete_paths(const snapshot& snapshot, const complete_request& request) const;
  [[nodiscard]] complete_result complete_ids(const snapshot& snapshot, const complete_request& request) const;
  [[nodiscard]] drive::call_options make_call_options(const snapshot& snapshot, const item& item,
                                                      const request_context& request) const;

  const provider_options options_;
  const std::shared_ptr<drive_store> store_;
  const fetcher fetcher_;
  const std::shared_ptr<model::watched_aliases> aliases_ = std::make_shared<model::watched_aliases>(to_listed_uri);
  follower follower_;
};

/// Longest chain of shortcuts.
inline constexpr std::size_t max_shortcut_hops = 10;

/// The same error for missing files and for files that the caller may not access.
[[nodiscard]] tl::unexpected<failure> file_not_found();
/// Whether the caller may see an entry, or read its resource.
[[nodiscard]] bool is_visible(const caller_info& caller, const resource& entry);
[[nodiscard]] bool is_readable(const caller_info& caller, const resource& entry);

/// The error for an unknown sheet of a workbook. It names the existing sheets, unless an access filter applies to the caller.
[[nodiscard]] tl::unexpected<failure> sheet_not_found(const std::string& name, const std::vector<part>& sheets,
                                                      const std::string& requested, const caller_info& caller);
/// Whether a part of a file may be read, however the file was found. `access_entries`: the entries of the file; rules must
/// allow each.
[[nodiscard]] bool may_read_sheet(const caller_info& caller, const std::vector<resource>& access_entries,
                                  const std::string& sheet);
[[nodiscard]] bool may_read_sheets(const caller_info& caller, const std::vector<resource>& access_entries,
                                   const std::vector<std::string>& sheets);
[[nodiscard]] bool may_read_original(const caller_info& caller, const std::vector<resource>& access_entries);

}  // namespace hondana::gdrive
