/// The provider of a Google Drive.
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

struct options {
  std::string name = "gdrive";
  std::string scheme = "gdrive";
  std::shared_ptr<remote> from{};
  std::shared_ptr<const rendering::renderer> renderer{};  ///< Null: nothing is rendered.
  rendering::limits rendered{};
  std::string store{};  ///< The file of what is kept; empty: in memory.
  std::uint64_t most_kept_content = 256ull << 20;
  std::uint64_t max_bytes = 64ull << 20;
  std::vector<std::string> drives{};  ///< Slugs; empty: all.
  bool has_shared_drives = true;
  std::chrono::milliseconds shortest{10'000}, longest{60'000};  ///< As `follower_options`.
  std::size_t most_files = 100'000;
  std::chrono::milliseconds first_wait{20'000};  ///< For a list while Drive is listed for the first time.
  std::chrono::milliseconds lately{2'000};       ///< So long after a poll a read does not ask whether a file has changed.
  bool redact = true;
  std::function<std::string()> who{};  ///< As `follower_options::who`.
  /// Whether the key or log-in can be used as it lies there now. Null: always. Errors: invalid_argument. Threads: any.
  std::function<result<void>()> credentials{};
  /// Where this server is reached by https: from outside, without a path; empty: Drive is not asked for notices.
  std::string notices{};
  std::vector<std::string> private_folders{};  ///< With credentials, for `needs`.
  std::vector<std::string> places{};           ///< `host:port` besides Drive's, for `needs`.
  std::function<void(std::string_view)> log{};
};

/// Lists from what is known of Drive, which a thread of its own keeps like Drive; reads by asking it. Threads: any.
class gdrive_provider final : public provider,
                              public takes_notices,
                              public model::told_of_listening,
                              public model::has_private_folders {
 public:
  /// Errors: source_unavailable where its store cannot be had.
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
  /// A file that somebody asks for.
  struct found {
    shared_item what{};
    std::string uri{};        ///< As listed; empty: it is not.
    std::string through{};    ///< The listed URI of the target where it was a shortcut.
    bool is_offline = false;  ///< Drive could not be reached.
    failure why{};            ///< That it could not.
  };
  gdrive_provider(options how, std::shared_ptr<kept> where);
  [[nodiscard]] result<shared_scene> ready(const call& by);
  /// Errors: resource_not_found, and those of Drive for what is not listed.
  [[nodiscard]] result<found> find(const scene& in, const address& what, const call& by) const;
  [[nodiscard]] result<found> find_by_id(const scene& in, const std::string& id, const std::string& key, const call& by) const;
  /// Whether a caller may have what is not listed: by its id, and where it would be listed.
  [[nodiscard]] bool may_have_unlisted(const scene& in, const item& what, const caller& who) const;
  /// By which entries rules about its parts go: the one that is listed, and where it would be listed if that is another place;
  /// of what is not listed, that by its id and where it would be.
  [[nodiscard]] std::vector<resource> wholes_of(const scene& in, const item& what, const std::string& uri) const;
  /// The file itself where it is a shortcut. Errors: resource_not_found, invalid_argument for one that leads in a circle.
  [[nodiscard]] result<found> followed(const scene& in, found from, const call& by) const;
  /// Whether all that a shortcut leads to, as far as it is or was listed, may be read by `who`.
  [[nodiscard]] static bool may_follow(const scene& in, const item& from, const caller& who);
  /// Whether an entry of a list is for the caller, and of a shortcut what it leads to.
  [[nodiscard]] static bool is_shown(const scene& in, const resource& entry, const caller& who);
  /// Whether a file that was served lies now where nothing is, or where it is not known whether it is.
  [[nodiscard]] bool has_left(const scene& in, const drive::file& now, const item& before) const;
  /// The same file as it is now. Errors: resource_not_found where it is not there any more.
  [[nodiscard]] result<found> now(const scene& in, found from, const call& by);
  /// Notes that Drive does not give a file, or its content, so that nothing that is kept is given later.
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

/// From shortcut to shortcut.
inline constexpr std::size_t most_hops = 10;

/// What is not there, and what is not for the caller, alike.
[[nodiscard]] tl::unexpected<failure> nothing_there();
/// Whether the caller may see an entry, or read what it is of.
[[nodiscard]] bool is_seen(const caller& who, const resource& entry);
[[nodiscard]] bool is_readable(const caller& who, const resource& entry);

/// The error for a sheet that a workbook of this name does not have. It names those that there are, but not to peers with
/// rules.
[[nodiscard]] tl::unexpected<failure> no_such_sheet(const std::string& name, const std::vector<part>& sheets,
                                                    const std::string& asked, const caller& who);
/// Whether a part of a file may be read, however the file was found: rules go by `wholes`, the entries of the file, of which
/// all have to let it be read.
[[nodiscard]] bool may_read_sheet(const caller& who, const std::vector<resource>& wholes, const std::string& sheet);
[[nodiscard]] bool may_read_sheets(const caller& who, const std::vector<resource>& wholes, const std::vector<std::string>& all);
[[nodiscard]] bool may_read_original(const caller& who, const std::vector<resource>& wholes);

}  // namespace hondana::gdrive
