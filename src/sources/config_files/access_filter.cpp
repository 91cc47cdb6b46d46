/// Access checks for files, layers and the targets of links.
#include "sources/config_files/access_filter.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "protocol/model/caller_checks.hpp"
#include "sources/config_files/config_folder.hpp"
#include "sources/config_files/config_uri.hpp"
#include "sources/config_files/file_set.hpp"

namespace hondana::config_files {
namespace {

resource bare_entry(std::string_view set, const std::string& path) {
  resource one;
  one.uri = uri_of_file(set, path);
  one.name = path;
  one.kind = "file";
  return one;
}

class link_view final : public view {
 public:
  link_view(std::shared_ptr<const view> of, std::string_view set, std::shared_ptr<const scene> now)
      : of_(std::move(of)), set_(set), now_(std::move(now)) {
    for (const auto& [path, file] : now_->files) {
      if (!file.behind.empty()) behind_.emplace(uri_of_file(set, path), &file.behind);
    }
  }
  [[nodiscard]] std::uint64_t id() const noexcept override { return of_->id(); }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return of_->may_see(uri) && sees_behind(uri); }
  [[nodiscard]] bool may_read(std::string_view uri) const override { return of_->may_read(uri); }
  [[nodiscard]] bool looks_at_entries() const noexcept override { return of_->looks_at_entries(); }
  [[nodiscard]] bool may_see_entry(const resource& entry) const override {
    return of_->may_see_entry(entry) && sees_behind(entry.uri);
  }
  [[nodiscard]] bool may_read_entry(const resource& entry) const override { return of_->may_read_entry(entry); }
  [[nodiscard]] bool may_see_some(const uri_template& of) const override { return of_->may_see_some(of); }

 private:
  [[nodiscard]] bool sees_behind(std::string_view uri) const {
    const auto link = behind_.find(std::string(uri));
    caller who;
    who.view = of_;
    return link == behind_.end() || may_see_file(set_, *link->second, who);
  }

  const std::shared_ptr<const view> of_;
  const std::string set_;
  const std::shared_ptr<const scene> now_;
  std::unordered_map<std::string, const std::string*> behind_;
};

}  // namespace

bool may_see_file(std::string_view set, const std::string& path, const caller& who) {
  return !who.view || model::may_see(who.view.get(), bare_entry(set, path));
}

bool may_read_file(std::string_view set, const std::string& path, const caller& who) {
  return !who.view || model::may_read(who.view.get(), bare_entry(set, path));
}

result<void> may_read_behind(std::string_view set, const std::string& path, const std::string& behind, const caller& who) {
  if (behind.empty()) return {};
  if (!may_see_file(set, behind, who)) return refused_by_system(ENOENT, path);
  if (may_read_file(set, behind, who)) return {};
  return fail(errc::access_denied, '"' + path + "\" is a link to a file that you may not read.");
}

bool may_use_layers(const file_set& from, std::string_view set, const caller& who, bool also_seen) {
  if (!who.view) return true;
  for (std::size_t i = 0; i < from.layer_settings().size(); ++i) {
    const auto& path = from.file_of_layer(i);
    if (path.empty()) continue;
    if (!may_read_file(set, path, who) || (also_seen && !may_see_file(set, path, who))) return false;
    if (!who.view->looks_at_entries()) continue;
    // A file that cannot be read now may be cached. The check of its path above has decided then.
    const auto file = from.see(path);
    if (file && !who.view->may_read_entry(entry_of(set, path, *file))) return false;
  }
  return true;
}

bool may_use(const layer_states& read, std::string_view set, const caller& who, bool also_seen) {
  return std::all_of(read.begin(), read.end(), [&](const layer_state& one) {
    if (one.behind.empty()) return true;
    return may_read_file(set, one.behind, who) && (!also_seen || may_see_file(set, one.behind, who));
  });
}

caller mindful_of_links(const caller& who, std::string_view set, std::shared_ptr<const scene> now) {
  auto made = who;
  const bool has_links =
      std::any_of(now->files.begin(), now->files.end(), [](const auto& one) { return !one.second.behind.empty(); });
  if (who.view && has_links) made.view = std::make_shared<const link_view>(who.view, set, std::move(now));
  return made;
}

}  // namespace hondana::config_files
