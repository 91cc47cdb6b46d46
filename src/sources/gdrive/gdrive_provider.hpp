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

#include <hondana/capabilities.hpp>
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
  std::string name = "gdrive";    ///< Of the source.
  std::string scheme = "gdrive";  ///< "gdrive", or "gdrive-" and more, if there are several sources.
  std::shared_ptr<drive_api> api{};
  std::shared_ptr<const rendering::renderer> renderer{};  ///< Converts files to text. Null: no files are converted.
  rendering::limits render_limits{};
  std::string store_path{};                       ///< Path of the cache file. Empty: in memory.
  std::uint64_t max_cached_bytes = 256ull << 20;  ///< Limit of all cached contents.
  std::uint64_t max_bytes = 64ull << 20;          ///< Limit of a downloaded or exported content.
  // As in `follower_options`.
  std::vector<std::string> drive_slugs{};
  bool has_shared_drives = true;
  std::chrono::milliseconds min_interval{10'000}, max_interval{60'000};
  std::size_t max_files = 100'000;
  std::chrono::milliseconds first_list_timeout{20'000};  ///< How long calls wait for the first full listing of Drive.
  std::chrono::milliseconds freshness_ttl{
      2'000};                                 ///< For this long after a poll, reads do not check whether a file has changed.
  bool redact = true;                         ///< Mask secrets in contents.
  std::function<std::string()> account_id{};  ///< As `follower_options::account_id`.
  /// Checks whether the key or log-in is usable now. May be empty: it is. Errors: invalid_argument. Threads: any.
  std::function<result<void>()> credential_check{};
  /// This server's public https: address, without a path. Empty: Drive is not asked for notifications.
  std::string notification_url{};
  std::vector<std::string> private_folders{};   ///< Folders with credentials, for `requirements`.
  std::vector<std::string> extra_addresses{};   ///< `host:port` of servers other than Drive's, for `requirements`.
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
};

/// Serves the files of a Google Drive account. Lists come from a local copy of the file list, which a `follower` keeps up to
/// date. Contents come from Drive, or from a cache if Drive is unreachable. Threads: any.
class gdrive_provider final : public provider,
                              public entry_source,
                              public folder_source,
                              public template_source,
                              public completion_source,
                              public inventory_source,
                              public change_source,
                              public watch_source,
                              public list_watch_source,
                              public health_source,
                              public webhook_receiver,
                              public model::listening_observer,
                              public model::private_folder_owner {
 public:
  /// Creates the provider and the folder of its store; sends no requests. Errors: source_unavailable.
  [[nodiscard]] static result<std::shared_ptr<gdrive_provider>> open(provider_options options);
  ~gdrive_provider() override;

  [[nodiscard]] std::string name() const override { return options_.name; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {options_.scheme + "://"}; }
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  [[nodiscard]] result<void> inventory(const request_context& request,
                                       const std::function<void(const inventory_item&)>& visitor) override;
  void set_listener(std::shared_ptr<change_listener> listener) override;
  void watch(const std::string& uri) override;
  void unwatch(const std::string& uri) override;
  void watch_list() override;
  void unwatch_list() override {}  // changes are still followed
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] provider_traits traits() const noexcept override {
    return {.max_concurrency = 8, .masking = options_.redact ? secret_masking::by_server : secret_masking::none};
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
    std::string uri{};         ///< The listed URI. Empty: the file is not listed.
    std::string target_uri{};  ///< If a shortcut was requested: the URI of its target, which is `item`.
    bool is_offline = false;   ///< Drive was unreachable just now.
    failure offline_reason{};  ///< With `is_offline`: why Drive was unreachable.
  };
  gdrive_provider(provider_options options, std::shared_ptr<drive_store> store);
  /// Starts the follower, and waits until there is a snapshot.
  [[nodiscard]] result<shared_snapshot> wait_for_snapshot(const request_context& request);
  /// Finds a file that the caller may read, by path or id. Errors: resource_not_found; for files that are not listed, those of
  /// `drive_api::get_file`.
  [[nodiscard]] result<requested_file> find(const snapshot& snapshot, const address& requested,
                                            const request_context& request) const;
  /// Like `find`. `key`: the resource key that a shortcut has for the file; may be empty.
  [[nodiscard]] result<requested_file> find_by_id(const snapshot& snapshot, const std::string& id, const std::string& key,
                                                  const request_context& request) const;
  /// Whether a caller may access a file that is not listed. Access rules must allow the URI by id, and the URI under which the
  /// next poll would list the file.
  [[nodiscard]] bool may_access_unlisted(const snapshot& snapshot, const item& item, const caller_info& caller) const;
  /// Makes the entries by which access rules for the parts of a file are checked. A listed file: its entry and, if it has moved
  /// since, an entry for its new place. An unlisted file: an entry with the URI by id, and one with the URI by path. `uri`: the
  /// listed URI, or empty.
  [[nodiscard]] std::vector<resource> access_entries(const snapshot& snapshot, const item& item, const std::string& uri) const;
  /// Returns the target of a shortcut, or the file itself if it is not a shortcut. Errors: as `find`; invalid_argument for a
  /// cycle.
  [[nodiscard]] result<requested_file> follow_shortcuts(const snapshot& snapshot, requested_file requested,
                                                        const request_context& request) const;
  /// Whether `caller` may read every file from a shortcut to its target, as far as these are or were listed. True if `item` is
  /// not a shortcut.
  [[nodiscard]] static bool may_follow(const snapshot& snapshot, const item& item, const caller_info& caller);
  /// Whether a caller may see an entry of a list: `is_visible`, and `may_follow` for a shortcut.
  [[nodiscard]] static bool is_listed_for(const snapshot& snapshot, const resource& entry, const caller_info& caller);
  /// Whether a file has moved to a place that is not served, or may not be. `file`: its current state. `previous`: its listed
  /// state.
  [[nodiscard]] bool has_moved_out(const snapshot& snapshot, const drive::file& file, const item& previous) const;
  /// Gets the current state of a listed file from Drive, unless the last poll is recent. If Drive is unreachable, sets
  /// `is_offline` instead. Errors: resource_not_found if the file no longer exists or has moved out of the caller's reach;
  /// those of `drive_api::get_file`.
  [[nodiscard]] result<requested_file> refresh_file(const snapshot& snapshot, requested_file requested,
                                                    const request_context& request);
  /// If the error means that Drive denies access, makes cached contents of the file, or of all files, unusable.
  /// `is_content_error`: the error is from a request for the content, not for the metadata.
  void record_denial(const requested_file& requested, const drive::drive_error& error, bool is_content_error);
  [[nodiscard]] result<read_result> read_file(const snapshot& snapshot, const address& requested, const read_request& request);
  /// Reads a folder as the URIs of its entries. `uri`: of a folder or drive; empty: the list of drives.
  [[nodiscard]] result<read_result> read_folder(const snapshot& snapshot, const std::string& uri, const read_request& request);
  /// Reads the list of starred or recent files.
  [[nodiscard]] result<read_result> read_list(const snapshot& snapshot, address::resource_kind kind,
                                              const caller_info& caller) const;
  /// The children of `gdrive:///`.
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

/// Maximum number of shortcuts from one to the next.
inline constexpr std::size_t max_shortcut_hops = 10;

/// The error resource_not_found, also for files that the caller may not access.
[[nodiscard]] tl::unexpected<failure> file_not_found();
/// Whether the caller may see an entry in lists.
[[nodiscard]] bool is_visible(const caller_info& caller, const resource& entry);
/// Whether the caller may see an entry and read its resource.
[[nodiscard]] bool is_readable(const caller_info& caller, const resource& entry);

/// The error for an unknown sheet of a spreadsheet. With an access filter: resource_not_found, as for hidden sheets. Without:
/// invalid_argument, naming the existing sheets. `name`: of the spreadsheet.
[[nodiscard]] tl::unexpected<failure> sheet_not_found(const std::string& name, const std::vector<part>& sheets,
                                                      const std::string& requested, const caller_info& caller);
// Whether the caller may read a part of a file: one sheet, all `sheets`, or the unconverted file. `access_entries`: from
// `gdrive_provider::access_entries`; access rules must allow the part of each. Empty: the caller may.
[[nodiscard]] bool may_read_sheet(const caller_info& caller, const std::vector<resource>& access_entries,
                                  const std::string& sheet);
[[nodiscard]] bool may_read_sheets(const caller_info& caller, const std::vector<resource>& access_entries,
                                   const std::vector<std::string>& sheets);
[[nodiscard]] bool may_read_original(const caller_info& caller, const std::vector<resource>& access_entries);

}  // namespace hondana::gdrive
