/// `hondana config import`: turns servers of other programs into configuration tables.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/known_servers.hpp"
#include "app/cli/output.hpp"
#include "app/cli/target.hpp"
#include "app/cli/verbs/commands.hpp"

namespace hondana::cli {
namespace {

constexpr std::uintmax_t most_bytes = 16u << 20;

result<std::string> content_of(const std::string& path) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(path, problem);
  if (problem) return fail(errc::invalid_argument, path + ": " + problem.message());
  if (size > most_bytes) return fail(errc::invalid_argument, path + " is larger than 16 MiB, the limit for an mcp.json");
  std::ifstream file(path, std::ios::binary);
  std::string out((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad() || !file) return fail(errc::invalid_argument, path + " cannot be read");
  return out;
}

result<void> append(const std::string& path, const std::string& text) {
  const auto unable = [&path](const std::string& why) {
    return fail(errc::invalid_argument, path + " cannot be written: " + why);
  };
  std::error_code problem;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    std::filesystem::create_directories(folder, problem);
    if (problem) return unable(problem.message());
  }
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return unable(std::strerror(errno));
  const auto before = ::lseek(file, 0, SEEK_END);
  std::string_view rest = text;
  int error = 0;
  while (!rest.empty() && error == 0) {
    const auto count = ::write(file, rest.data(), rest.size());
    if (count < 0 && errno != EINTR) error = errno;
    if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
  }
  // Remove a partial table; otherwise no later command could read the file.
  if (error != 0 && before >= 0 && ::ftruncate(file, before) != 0) error = errno;
  ::close(file);
  if (error != 0) return unable(std::strerror(error));
  return {};
}

/// The servers in the named file, or in all usual files that exist.
result<std::vector<known_server>> found_servers(const command_line& line) {
  if (const auto named = line.word(0); !named.empty()) {
    HONDANA_TRY(const auto text, content_of(named));
    auto all = servers_in(text);
    if (!all) return fail(errc::invalid_argument, named + ": " + all.error().public_text);
    return all;
  }
  const auto* home = std::getenv("HOME");
  std::vector<known_server> out;
  std::string looked_at;
  std::error_code problem;
  for (const auto& place : usual_places(home == nullptr ? "" : home, std::filesystem::current_path(problem).string())) {
    looked_at += (looked_at.empty() ? "" : ", ") + place.path;
    if (!std::filesystem::exists(place.path, problem)) continue;
    const auto text = content_of(place.path);
    auto all = text ? servers_in(*text) : tl::unexpected(text.error());
    if (!all) {
      say(place.path + " (" + place.host + ") is skipped: " + all.error().public_text);
      continue;
    }
    if (!line.has(quiet_flag))
      say(place.path + " (" + place.host + "): " + std::to_string(all->size()) + (all->size() == 1 ? " server" : " servers"));
    out.insert(out.end(), std::make_move_iterator(all->begin()), std::make_move_iterator(all->end()));
  }
  if (out.empty()) return fail(errc::resource_not_found, "no servers found in " + looked_at + "; name the file");
  return out;
}

}  // namespace

int import_servers(const command_line& line) {
  const auto failed = [](const failure& why) {
    complain(why);
    return exit_code_of(why.code);
  };
  const auto servers = found_servers(line);
  if (!servers) return failed(servers.error());
  const auto path = line.has(names_flag) ? line.text(names_flag) : usual_config();
  std::vector<std::string> taken;
  std::error_code problem;
  if (std::filesystem::exists(path, problem)) {
    auto names = server_names(path);
    if (!names) return failed(names.error());
    taken = std::move(*names);
  }
  const auto tables = tables_of(*servers, std::move(taken));
  if (!line.has(write_flag)) {
    line.has(json_flag) ? print_json(json_of(*servers)) : print(tables.text);
    return exit_ok;
  }
  if (path.empty()) return failed({errc::invalid_argument, "HOME is not set; name the file with --config FILE", {}});
  for (const auto& one : tables.left_out) say(one);
  if (tables.count == 0) {
    say("nothing new to write to " + path);
    return exit_ok;
  }
  if (auto done = append(path, '\n' + tables.text); !done) return failed(done.error());
  say(std::to_string(tables.count) + (tables.count == 1 ? " server" : " servers") + " written to " + path +
      "; 'hondana ls --on NAME" + (line.has(names_flag) ? " --config " + shell_word(path) : std::string()) + "' uses one");
  return exit_ok;
}

}  // namespace hondana::cli
