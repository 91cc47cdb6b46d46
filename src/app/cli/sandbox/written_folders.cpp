/// What may not lie where a server writes.
#include "app/cli/sandbox/written_folders.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include "protocol/model/private_folders.hpp"

namespace hondana::cli {
namespace {

namespace fs = std::filesystem;

/// Where all programs of a machine have something; those of the first level aside.
constexpr std::array<std::string_view, 7> common_folders{"/var/cache", "/var/lib",   "/var/log",      "/var/spool",
                                                         "/var/tmp",   "/usr/local", "/usr/local/etc"};

/// A file that is written, with others beside it.
struct written_file {
  fs::path path{};
  const char* what = "";          ///< "audit log"
  const char* usual_folder = "";  ///< Where one might have its own.
  bool shares_folder = false;     ///< With others that share theirs.
  std::function<failure(std::string_view)> wrong{};
};

/// The home folder of somebody, at or above `folder`; empty where that is not the usual place for any.
std::string usual_home(std::string_view folder) {
  constexpr std::string_view homes = "/home/";
  if (folder.starts_with(homes)) return std::string(folder.substr(0, folder.find('/', homes.size())));
  return folder.starts_with("/root/") ? "/root" : "";
}

/// Whether `inner` is `outer` or lies below it.
bool holds(std::string_view outer, std::string_view inner) {
  return inner.starts_with(outer) && (inner.size() == outer.size() || outer.ends_with('/') || inner[outer.size()] == '/');
}

/// At or above a home folder, or what all programs of a user have in it.
bool is_of_whole_home(std::string_view folder, const std::string& home) {
  if (home.size() < 2) return false;
  return holds(folder, home) || holds(folder, home + "/.config") || holds(folder, home + "/.local/share") ||
         holds(folder, home + "/.cache");
}

std::vector<written_file> written_files(const config::settings& of) {
  std::vector<written_file> all;
  const auto wrong = [&of](const char* key) { return [&of, key](std::string_view why) { return of.wrong(key, why); }; };
  if (of.audit) all.push_back({of.audit->path, "audit log", "/var/log/hondana", false, wrong("audit.path")});
  if (of.search && !of.search->path.empty())
    all.push_back({of.search->path, "index", "/var/lib/hondana", true, wrong("search.path")});
  for (const auto& one : of.sources) {
    if (one.type != "metrics") continue;
    auto table = one.options;  // reading marks a key as known
    const auto written = table.string("store");
    if (!written || !*written || (*written)->empty() || **written == ":memory:") continue;
    std::error_code problem;
    auto path = fs::absolute(table.path_from(**written), problem).lexically_normal();
    if (problem) continue;
    all.push_back({std::move(path), "store", "/var/lib/hondana", true,
                   [&one](std::string_view why) { return one.options.wrong("store", why); }});
  }
  return all;
}

/// What a folder that is written to has in common with what must not be; empty: nothing.
std::string what_stands_in(const std::string& folder, const written_file& of, const std::vector<written_file>& others,
                           const parts& whole) {
  for (const auto& one : whole.providers) {
    const auto* const keeper = dynamic_cast<const model::has_private_folders*>(one.get());
    const auto apart = keeper == nullptr ? std::vector<std::string>() : keeper->private_folders();
    for (const auto& needed : one->needs().folders) {
      const auto real = behind_links(needed.path);
      if (needed.writable) continue;  // of the program's own making
      if (holds(folder, real)) return "its folder " + folder + " contains " + needed.path + ", which is served or used";
      // Of a folder with a key nothing else counts, and what is written below does not reach the key.
      if (std::find(apart.begin(), apart.end(), needed.path) != apart.end()) continue;
      if (holds(real, folder)) return "its folder " + folder + " is in " + needed.path + ", which is served";
    }
  }
  for (const auto& one : whole.own) {
    const auto is_one = [&one](const written_file& file) {
      return file.shares_folder && (one == file.path || one == behind_links(file.path.string()) ||
                                    one == fs::path(behind_links(file.path.parent_path().string())) / file.path.filename());
    };
    if (of.shares_folder && std::any_of(others.begin(), others.end(), is_one)) continue;
    std::error_code problem;
    if (holds(folder, one) && fs::exists(one, problem))
      return "its folder " + folder + " contains " + one + ", which the server needs";
  }
  return {};
}

/// A warning, or nothing.
result<std::optional<std::string>> check(const written_file& one, const std::vector<written_file>& all, const parts& whole) {
  const auto folder = one.path.parent_path();
  const auto name = one.path.filename();
  const std::string what(one.what);
  const bool is_confined = whole.settings.sandbox.mode != config::sandbox_mode::off;
  const auto real = behind_links(folder.string());
  if (is_confined && is_shared_folder(real, environment_of("HOME"))) {
    return tl::unexpected(one.wrong("the sandbox would have to leave all of " + folder.string() + " writable; give the " +
                                    what + " a folder of its own, such as " + (folder / "hondana" / name).string()));
  }
  const auto why = what_stands_in(real, one, all, whole);
  if (why.empty()) return std::nullopt;
  auto wrong =
      one.wrong(why + "; a process that may write the " + what + " could change it too. Give the " + what +
                " a folder of its own outside of the served folders, such as " + (fs::path(one.usual_folder) / name).string());
  if (!is_confined) return std::move(wrong.public_text);
  return tl::unexpected(std::move(wrong));
}

}  // namespace

std::string behind_links(const std::string& path) {
  std::error_code problem;
  auto real = fs::weakly_canonical(path, problem);
  return problem ? path : real.string();
}

std::string environment_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_shared_folder(std::string_view folder, std::string_view home) {
  if (std::count(folder.begin(), folder.end(), '/') < 2) return true;
  if (std::find(common_folders.begin(), common_folders.end(), folder) != common_folders.end()) return true;
  return is_of_whole_home(folder, std::string(home)) || is_of_whole_home(folder, usual_home(folder));
}

std::string record_folder(const config::settings& of) {
  return of.audit ? fs::path(of.audit->path).parent_path().string() : std::string();
}

result<std::vector<std::string>> check_written_folders(const parts& whole) {
  const auto all = written_files(whole.settings);
  std::vector<std::string> warnings;
  for (const auto& one : all) {
    HONDANA_TRY(auto checked, check(one, all, whole));
    if (checked) warnings.push_back(std::move(*checked));
  }
  return warnings;
}

}  // namespace hondana::cli
