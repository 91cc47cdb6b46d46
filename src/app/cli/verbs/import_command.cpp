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

constexpr std::uintmax_t max_bytes = 16u << 20;

result<std::string> read_file(const std::string& path) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(path, problem);
  if (problem) return fail(errc::invalid_argument, path + ": " + problem.message());
  if (size > max_bytes) return fail(errc::invalid_argument, path + " is larger than 16 MiB, the limit for an mcp.json");
  std::ifstream file(path, std::ios::binary);
  std::string out((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad() || !file) return fail(errc::invalid_argument, path + " cannot be read");
  return out;
}

result<void> append(const std::string& path, const std::string& text) {
  const auto unable = [&path](const std::string& reason) {
    return fail(errc::invalid_argument, path + " cannot be written: " + reason);
  };
  std::error_code problem;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    std::filesystem::create_directories(folder, problem);
    if (problem) return unable(problem.message());
  }
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return unable(std::strerror(errno));
  const auto previous_size = ::lseek(file, 0, SEEK_END);
  std::string_view remaining = text;
  int error = 0;
  while (!remaining.empty() && error == 0) {
    const auto count = ::write(file, remaining.data(), remaining.size());
    if (count < 0 && errno != EINTR) error = errno;
    if (count > 0) remaining.remove_prefix(static_cast<std::size_t>(count));
  }
  // Remove a partial table; otherwise no later command could read the file.
  if (error != 0 && previous_size >= 0 && ::ftruncate(file, previous_size) != 0) error = errno;
  ::close(file);
  if (error != 0) return unable(std::strerror(error));
  return {};
}

/// The servers in the named file, or in all usual files that exist.
result<std::vector<known_server>> find_servers(const command_line& line) {
  if (const auto named = line.word(0); !named.empty()) {
    HONDANA_TRY(const auto text, read_file(named));
    auto servers = parse_servers(text);
    if (!servers) return fail(errc::invalid_argument, named + ": " + servers.error().public_text);
    return servers;
  }
  const auto* home = std::getenv("HOME");
  std::vector<known_server> out;
  std::string searched;
  std::error_code problem;
  for (const auto& config_file :
       host_config_files(home == nullptr ? "" : home, std::filesystem::current_path(problem).string())) {
    searched += (searched.empty() ? "" : ", ") + config_file.path;
    if (!std::filesystem::exists(config_file.path, problem)) continue;
    const auto text = read_file(config_file.path);
    auto servers = text ? parse_servers(*text) : tl::unexpected(text.error());
    if (!servers) {
      print_message(config_file.path + " (" + config_file.host + ") is skipped: " + servers.error().public_text);
      continue;
    }
    if (!line.has(quiet_flag))
      print_message(config_file.path + " (" + config_file.host + "): " + std::to_string(servers->size()) +
                    (servers->size() == 1 ? " server" : " servers"));
    out.insert(out.end(), std::make_move_iterator(servers->begin()), std::make_move_iterator(servers->end()));
  }
  if (out.empty()) return fail(errc::resource_not_found, "no servers found in " + searched + "; name the file");
  return out;
}

}  // namespace

int import_servers(const command_line& line) {
  const auto failed = [](const failure& error) {
    print_error(error);
    return exit_code_of(error.code);
  };
  const auto servers = find_servers(line);
  if (!servers) return failed(servers.error());
  const auto path = line.has(client_config_flag) ? line.text(client_config_flag) : default_config_file();
  std::vector<std::string> used_names;
  std::error_code problem;
  if (std::filesystem::exists(path, problem)) {
    auto names = server_names(path);
    if (!names) return failed(names.error());
    used_names = std::move(*names);
  }
  const auto tables = make_tables(*servers, std::move(used_names));
  if (!line.has(write_flag)) {
    line.has(json_flag) ? print_json(to_json(*servers)) : print(tables.text);
    return exit_ok;
  }
  if (path.empty()) return failed({errc::invalid_argument, "HOME is not set; name the file with --config FILE", {}});
  for (const auto& message : tables.skipped) print_message(message);
  if (tables.count == 0) {
    print_message("nothing new to write to " + path);
    return exit_ok;
  }
  if (auto status = append(path, '\n' + tables.text); !status) return failed(status.error());
  print_message(std::to_string(tables.count) + (tables.count == 1 ? " server" : " servers") + " written to " + path +
                "; 'hondana ls --on NAME" + (line.has(client_config_flag) ? " --config " + shell_quote(path) : std::string()) +
                "' uses one");
  return exit_ok;
}

}  // namespace hondana::cli
