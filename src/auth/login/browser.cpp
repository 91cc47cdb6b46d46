/// Starts browsers.
#include "auth/login/browser.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "transport/http_client/small_call.hpp"

namespace hondana::login {
namespace {

constexpr std::size_t max_url_bytes = 16u << 10;

bool is_plain_program(std::string_view text) noexcept {
  constexpr std::string_view others = "._-+/";
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           others.find(c) != std::string_view::npos;
  });
}

/// Where a started program writes and reads: nowhere.
class started_apart {
 public:
  started_apart() {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&how_);
    for (const int one : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&files_, one, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&how_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&how_, &signals);
    // Whoever interrupts the log-in does not mean the browser.
    posix_spawnattr_setflags(&how_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  ~started_apart() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&how_);
  }
  started_apart(const started_apart&) = delete;
  started_apart& operator=(const started_apart&) = delete;

  int run(pid_t& id, char* const arguments[]) { return posix_spawnp(&id, arguments[0], &files_, &how_, arguments, environ); }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t how_{};
};

}  // namespace

bool may_be_shown(std::string_view url) {
  constexpr std::string_view https = "https://";
  constexpr std::string_view http = "http://";
  if (url.size() > max_url_bytes) return false;
  // Also the characters that URLs may hold and shells take for their own are fine: no shell sees them.
  constexpr std::string_view never = "\"'`\\<>{}|^$";
  if (std::any_of(url.begin(), url.end(),
                  [&](char c) { return c <= ' ' || c >= 0x7f || never.find(c) != std::string_view::npos; }))
    return false;
  const bool is_secure = url.starts_with(https);
  if (!is_secure && !url.starts_with(http)) return false;
  const auto rest = url.substr(is_secure ? https.size() : http.size());
  const auto authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.empty() || authority.find('@') != std::string_view::npos) return false;
  return is_secure || transport::http_client::is_on_this_machine(std::string(url));
}

std::optional<std::string> browser_program(const environment& of, bool is_root) {
  if (of("DISPLAY").empty() && of("WAYLAND_DISPLAY").empty()) return std::nullopt;
  if (auto named = of("BROWSER"); is_plain_program(named)) return named;
  if (is_root) return std::nullopt;
  return "xdg-open";
}

result<void> open_browser(const std::string& program, const std::string& url) {
  if (!may_be_shown(url))
    return fail(errc::invalid_argument,
                "the authorization server's page is not at a plain https: address, so it was not opened");
  if (!is_plain_program(program))
    return fail(errc::invalid_argument, "\"" + program + "\" is not the name or path of a program");
  std::string name = program;
  std::string page = url;
  char* const arguments[] = {name.data(), page.data(), nullptr};
  pid_t id = 0;
  started_apart apart;
  if (const int error = apart.run(id, arguments); error != 0)
    return fail(errc::source_unavailable, "cannot start " + program + ": " + std::strerror(error));
  return {};
}

}  // namespace hondana::login
