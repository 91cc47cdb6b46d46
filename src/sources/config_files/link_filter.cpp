/// Access checks for files, layers and the targets of links.
#include "sources/config_files/link_filter.hpp"

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

resource make_bare_entry(std::string_view set, const std::string& path) {
  resource entry;
  entry.uri = uri_of_file(set, path);
  entry.name = path;
  entry.kind = "file";
  return entry;
}

class link_filter final : public access_filter {
 public:
  link_filter(std::shared_ptr<const access_filter> filter, std::string_view set, std::shared_ptr<const snapshot> snapshot)
      : filter_(std::move(filter)), set_(set), snapshot_(std::move(snapshot)) {
    for (const auto& [path, file] : snapshot_->files) {
      if (!file.link_target.empty()) link_targets_.emplace(uri_of_file(set, path), &file.link_target);
    }
  }
  [[nodiscard]] std::uint64_t id() const noexcept override { return filter_->id(); }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return filter_->may_see(uri) && may_see_target(uri); }
  [[nodiscard]] bool may_read(std::string_view uri) const override { return filter_->may_read(uri); }
  [[nodiscard]] bool uses_entries() const noexcept override { return filter_->uses_entries(); }
  [[nodiscard]] bool may_see_entry(const resource& entry) const override {
    return filter_->may_see_entry(entry) && may_see_target(entry.uri);
  }
  [[nodiscard]] bool may_read_entry(const resource& entry) const override { return filter_->may_read_entry(entry); }
  [[nodiscard]] bool may_see_any(const uri_template& pattern) const override { return filter_->may_see_any(pattern); }

 private:
  [[nodiscard]] bool may_see_target(std::string_view uri) const {
    const auto link = link_targets_.find(std::string(uri));
    caller_info viewer;
    viewer.access_filter = filter_;
    return link == link_targets_.end() || may_see_file(set_, *link->second, viewer);
  }

  const std::shared_ptr<const access_filter> filter_;
  const std::string set_;
  const std::shared_ptr<const snapshot> snapshot_;
  std::unordered_map<std::string, const std::string*> link_targets_;
};

}  // namespace

bool may_see_file(std::string_view set, const std::string& path, const caller_info& caller) {
  return !caller.access_filter || model::may_see(caller.access_filter.get(), make_bare_entry(set, path));
}

bool may_read_file(std::string_view set, const std::string& path, const caller_info& caller) {
  return !caller.access_filter || model::may_read(caller.access_filter.get(), make_bare_entry(set, path));
}

result<void> check_link_target(std::string_view set, const std::string& path, const std::string& link_target,
                               const caller_info& caller) {
  if (link_target.empty()) return {};
  if (!may_see_file(set, link_target, caller)) return system_failure(ENOENT, path);
  if (may_read_file(set, link_target, caller)) return {};
  return fail(errc::access_denied, '"' + path + "\" is a link to a file that you may not read.");
}

bool may_use_layers(const file_set& files, std::string_view set, const caller_info& caller, bool must_be_visible) {
  if (!caller.access_filter) return true;
  for (std::size_t i = 0; i < files.layer_settings().size(); ++i) {
    const auto& path = files.layer_file(i);
    if (path.empty()) continue;
    if (!may_read_file(set, path, caller) || (must_be_visible && !may_see_file(set, path, caller))) return false;
    if (!caller.access_filter->uses_entries()) continue;
    // A file that cannot be read now may be cached. The check of its path above has decided then.
    const auto file = files.inspect(path);
    if (file && !caller.access_filter->may_read_entry(make_entry(set, path, *file))) return false;
  }
  return true;
}

bool may_use_layer_targets(const layer_states& layers, std::string_view set, const caller_info& caller, bool must_be_visible) {
  return std::all_of(layers.begin(), layers.end(), [&](const layer_state& layer) {
    if (layer.link_target.empty()) return true;
    return may_read_file(set, layer.link_target, caller) && (!must_be_visible || may_see_file(set, layer.link_target, caller));
  });
}

caller_info with_link_filter(const caller_info& caller, std::string_view set, std::shared_ptr<const snapshot> snapshot) {
  auto filtered = caller;
  const bool has_links = std::any_of(snapshot->files.begin(), snapshot->files.end(),
                                     [](const auto& file) { return !file.second.link_target.empty(); });
  if (caller.access_filter && has_links)
    filtered.access_filter = std::make_shared<const link_filter>(caller.access_filter, set, std::move(snapshot));
  return filtered;
}

}  // namespace hondana::config_files
