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
#include <hondana/notice.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "protocol/model/provider_extensions.hpp"
#include "protocol/model/watched_aliases.hpp"
#include "sources/gdrive/address.hpp"
#include "sources/gdrive/fetcher.hpp"
#include "sources/gdrive/follower.hpp"

namespace hondana::gdrive {

/// Settings and dependencies of a `gdrive_provider`.
struct options {
  std::string name = "gdrive";
  std::string scheme = "gdrive";
  std::shared_ptr<remote> from{};
  std::shared_ptr<const rendering::renderer> renderer{};  ///< Null: nothing is rendered.
  rendering::limits rendered{};
  std::string store{};  ///< Path of the cache file; empty: in memory.
  std::uint64_t most_kept_content = 256ull << 20;
  std::uint64_t max_bytes = 64ull << 20;
  std::vector<std::string> drives{};  ///< Slugs; empty: all.
  bool has_shared_drives = true;
  std::chrono::milliseconds shortest{10'000}, longest{60'000};  ///< As `follower_options`.
  std::size_t most_files = 100'000;
  std::chrono::milliseconds first_wait{20'000};  ///< Longest wait of a list during the first listing of Drive.
  std::chrono::milliseconds lately{2'000};       ///< For this long after a poll, reads do not check whether a file has changed.
  bool redact = true;
  std::function<std::string()> who{};  ///< As `follower_options::who`.
  /// Whether the key or log-in is usable now. Null: always. Errors: invalid_argument. Threads: any.
  std::function<result<void>()> credentials{};
  /// This server's public https: address, without a path; empty: Drive is not asked for notifications.
  std::string notices{};
  std::vector<std::string> private_folders{};  ///< Folders with credentials, for `needs`.
  std::vector<std::string> places{};           ///< `host:port` of servers other than Drive's, for `needs`.
  std::function<void(std::string_view)> log{};
};

/// Lists files from a local copy of the file list, which its own thread keeps up to date. Reads request contents from Drive.
/// Threads: any.
class gdrive_provider final : public provider,
                              public takes_notices,
                              public model::told_of_listening,
                              public model::has_private_folders {
 public:
  /// Errors: source_unavailable if the store cannot be used.
  [[nodiscard]] static result<std::shared_ptr<gdrive_provider>> open(options how);
  ~gdrive_provider() override;

  [[nodiscard]] std::string name() const override { return how_.name; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {how_.scheme + "://"}; }
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] bool lists_folders() const noexcept override { return true; }
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  [[nodiscard]] result<void> survey(const call& request, const std::function<void(const survey_item&)>& each) override;
  void watch(std::shared_ptr<change_listener> to) override;
  void attach(const std::string& uri) override;
  void detach(const std::string& uri) override;
  void attach_list() override;
  [[nodiscard]] std::size_t concurrency() const noexcept override { return 8; }
  [[nodiscard]] hondana::needs needs() const override;
  [[nodiscard]] hondana::masking masking() const noexcept override { return how_.redact ? masking::by_server : masking::none; }
  [[nodiscard]] hondana::health health() const override { return follower_.health(); }
  [[nodiscard]] bool expects_notices() const noexcept override { return !how_.notices.empty(); }
  [[nodiscard]] bool take_notice(const notice& what) override { return follower_.take_notice(what); }
  void server_listens() override { follower_.listens(); }
  [[nodiscard]] std::vector<std::string> private_folders() const override { return how_.private_folders; }

 private:
  using shared_scene = std::shared_ptr<const scene>;
  /// A requested file.
  struct found {
    shared_item what{};
    std::string uri{};        ///< The listed URI; empty if the file is not listed.
    std::string through{};    ///< The listed URI of the target, if the request was for a shortcut.
    bool is_offline = false;  ///< Drive was unreachable.
    failure why{};            ///< Why it was unreachable.
  };
  gdrive_provider(options how, std::shared_ptr<kept> where);
  [[nodiscard]] result<shared_scene> ready(const call& by);
  /// Errors: resource_not_found, and those of Drive for files that are not listed.
  [[nodiscard]] result<found> find(const scene& in, const address& what, const call& by) const;
  [[nodiscard]] result<found> find_by_id(const scene& in, const std::string& id, const std::string& key, const call& by) const;
  /// Whether a caller may access a file that is not listed. Rules must allow its URI by id and the URI that it would be listed
  /// by.
  [[nodiscard]] bool may_have_unlisted(const scene& in, const item& what, const caller& who) const;
  /// The entries by which access rules for the parts of a file are checked.
  /// For a listed file: its entry, and if it has moved since, an entry for its new place. For an unlisted file: an entry by id,
  /// and one by place.
  [[nodiscard]] std::vector<resource> wholes_of(const scene& in, const item& what, const std::string& uri) const;
  /// Resolves shortcuts. Errors: resource_not_found; invalid_argument for a cycle.
  [[nodiscard]] result<found> followed(const scene& in, found from, const call& by) const;
  /// Whether `who` may read each file on the way to a shortcut's target, as far as these are or were listed.
  [[nodiscard]] static bool may_follow(const scene& in, const item& from, const caller& who);
  /// Whether a caller may see an entry of a list. For a shortcut, its target must be readable, too.
  [[nodiscard]] static bool is_shown(const scene& in, const resource& entry, const caller& who);
  /// Whether a served file has moved to a place that is not served, or may not be.
  [[nodiscard]] bool has_left(const scene& in, const drive::file& now, const item& before) const;
  /// Checks the current state of the file with Drive. Errors: resource_not_found if it no longer exists.
  [[nodiscard]] result<found> now(const scene& in, found from, const call& by);
  /// Records that Drive denies access to a file or its content, so that no cached content is served later.
  void heed(const found& of, const drive::refusal& why, bool is_of_content);
  [[nodiscard]] result<reading> read_file(const scene& in, const address& what, const read_request& request);
  [[nodiscard]] result<reading> read_folder(const scene& in, const std::string& uri, const read_request& request);
  [[nodiscard]] result<reading> read_view(const scene& in, address::place which, const caller& who) const;
  [[nodiscard]] std::vector<resource> top(const scene& in) const;
  [[nodiscard]] result<list_result> children_of(const scene& in, const std::string& uri, const children_request& request) const;
  [[nodiscard]] complete_result complete_paths(const scene& in, const complete_request& request) const;
  [[nodiscard]] complete_result complete_ids(const scene& in, const complete_request& request) const;
  [[nodiscard]] drive::errand errand_of(const scene& in, const item& of, const call& by) const;

  const options how_;
  const std::shared_ptr<kept> where_;
  const fetcher fetcher_;
  const std::shared_ptr<model::watched_spellings> spellings_ = std::make_shared<model::watched_spellings>(listed_spelling);
  follower follower_;
};

/// Longest chain of shortcuts.
inline constexpr std::size_t most_hops = 10;

/// The same error for missing files and for files that the caller may not access.
[[nodiscard]] tl::unexpected<failure> nothing_there();
/// Whether the caller may see an entry, or read its resource.
[[nodiscard]] bool is_seen(const caller& who, const resource& entry);
[[nodiscard]] bool is_readable(const caller& who, const resource& entry);

/// The error for an unknown sheet of a workbook. It names the existing sheets, unless an access filter applies to the caller.
[[nodiscard]] tl::unexpected<failure> no_such_sheet(const std::string& name, const std::vector<part>& sheets,
                                                    const std::string& asked, const caller& who);
/// Whether a part of a file may be read, however the file was found. `wholes`: the entries of the file; rules must allow each.
[[nodiscard]] bool may_read_sheet(const caller& who, const std::vector<resource>& wholes, const std::string& sheet);
[[nodiscard]] bool may_read_sheets(const caller& who, const std::vector<resource>& wholes, const std::vector<std::string>& all);
[[nodiscard]] bool may_read_original(const caller& who, const std::vector<resource>& wholes);

}  // namespace hondana::gdrive
