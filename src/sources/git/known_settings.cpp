/// A configuration backend over a list of settings.
#include "sources/git/known_settings.hpp"

#include <git2/sys/config.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace hondana::git {
namespace {

using shared_settings = std::shared_ptr<const std::vector<setting>>;

struct known_settings : git_config_backend {
  shared_settings all;
};

/// What libgit2 holds of one setting; its texts live as long as it does.
struct known_entry : git_config_entry {
  shared_settings all;
};

struct settings_iterator : git_config_iterator {
  shared_settings all;
  std::size_t at = 0;
  known_entry current;  // valid until the next one is asked for
};

void fill(known_entry& entry, const setting& from) {
  static_cast<git_config_entry&>(entry) = git_config_entry{};
  entry.name = from.name.c_str();
  entry.value = from.value ? from.value->c_str() : nullptr;
  entry.level = GIT_CONFIG_LEVEL_LOCAL;
}

known_settings& own(git_config_backend* of) { return *static_cast<known_settings*>(of); }

int open_known(git_config_backend*, git_config_level_t, const git_repository*) { return 0; }

int get_known(git_config_backend* of, const char* key, git_config_entry** out) {
  const auto& all = own(of).all;
  // The last one counts.
  for (auto one = all->rbegin(); one != all->rend(); ++one) {
    if (one->name != key) continue;
    auto entry = std::make_unique<known_entry>();
    fill(*entry, *one);
    entry->all = all;
    entry->free = [](git_config_entry* which) { delete static_cast<known_entry*>(which); };
    *out = entry.release();
    return 0;
  }
  return GIT_ENOTFOUND;
}

int next_known(git_config_entry** out, git_config_iterator* of) {
  auto& walk = *static_cast<settings_iterator*>(of);
  if (walk.at == walk.all->size()) return GIT_ITEROVER;
  fill(walk.current, (*walk.all)[walk.at++]);
  walk.current.free = [](git_config_entry*) {};
  *out = &walk.current;
  return 0;
}

int iterate_known(git_config_iterator** out, git_config_backend* of) {
  auto walk = std::make_unique<settings_iterator>();
  walk->backend = of;
  walk->next = next_known;
  walk->free = [](git_config_iterator* which) { delete static_cast<settings_iterator*>(which); };
  walk->all = own(of).all;
  *out = walk.release();
  return 0;
}

int snapshot_known(git_config_backend** out, git_config_backend* of);

int refuse_to_write() { return GIT_ERROR; }

std::unique_ptr<known_settings> backend_of(shared_settings all) {
  auto made = std::make_unique<known_settings>();
  git_config_init_backend(made.get(), GIT_CONFIG_BACKEND_VERSION);
  made->readonly = 1;
  made->open = open_known;
  made->get = get_known;
  made->set = [](git_config_backend*, const char*, const char*) { return refuse_to_write(); };
  made->set_multivar = [](git_config_backend*, const char*, const char*, const char*) { return refuse_to_write(); };
  made->del = [](git_config_backend*, const char*) { return refuse_to_write(); };
  made->del_multivar = [](git_config_backend*, const char*, const char*) { return refuse_to_write(); };
  made->iterator = iterate_known;
  made->snapshot = snapshot_known;
  made->lock = [](git_config_backend*) { return refuse_to_write(); };
  made->unlock = [](git_config_backend*, int) { return 0; };
  made->free = [](git_config_backend* which) { delete static_cast<known_settings*>(which); };
  made->all = std::move(all);
  return made;
}

int snapshot_known(git_config_backend** out, git_config_backend* of) {
  *out = backend_of(own(of).all).release();
  return 0;
}

}  // namespace

result<config_pointer> config_of(std::vector<setting> settings) {
  constexpr std::string_view said = "the repository's configuration cannot be held in memory";
  git_config* raw = nullptr;
  if (const int code = git_config_new(&raw); code < 0) return failed(std::string(said));
  config_pointer made(raw);
  auto backend = backend_of(std::make_shared<const std::vector<setting>>(std::move(settings)));
  const int code = git_config_add_backend(raw, backend.get(), GIT_CONFIG_LEVEL_LOCAL, nullptr, 0);
  if (code < 0) return failed(std::string(said));
  (void)backend.release();  // it belongs to the configuration now
  return made;
}

}  // namespace hondana::git
