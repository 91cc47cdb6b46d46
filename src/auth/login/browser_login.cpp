/// Shows login pages in a browser on this machine, or lets the user paste the address of the last page from another machine.
#include "auth/login/browser_login.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "auth/login/redirect_listener.hpp"
#include "transport/http_client/small_request.hpp"

namespace hondana::login {
namespace {

constexpr std::size_t max_url_bytes = 16u << 10;

bool is_program_name(std::string_view text) noexcept {
  constexpr std::string_view punctuation = "._-+/";
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           punctuation.find(c) != std::string_view::npos;
  });
}

/// Starts a program without terminal: its input and output are /dev/null.
class detached_process {
 public:
  detached_process() {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&files_, descriptor, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    // A new session, so that Ctrl-C during the login does not end the browser.
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  ~detached_process() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  detached_process(const detached_process&) = delete;
  detached_process& operator=(const detached_process&) = delete;

  int run(pid_t& id, char* const arguments[]) {
    return posix_spawnp(&id, arguments[0], &files_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

bool is_browser_safe(std::string_view url) {
  constexpr std::string_view https = "https://";
  constexpr std::string_view http = "http://";
  if (url.size() > max_url_bytes) return false;
  // Other characters that are special to shells are allowed, because no shell is used.
  constexpr std::string_view forbidden = "\"'`\\<>{}|^$";
  if (std::any_of(url.begin(), url.end(),
                  [&](char c) { return c <= ' ' || c >= 0x7f || forbidden.find(c) != std::string_view::npos; }))
    return false;
  const bool is_secure = url.starts_with(https);
  if (!is_secure && !url.starts_with(http)) return false;
  const auto after_scheme = url.substr(is_secure ? https.size() : http.size());
  const auto authority = after_scheme.substr(0, after_scheme.find_first_of("/?#"));
  if (authority.empty() || authority.find('@') != std::string_view::npos) return false;
  return is_secure || transport::http_client::is_local_url(std::string(url));
}

std::optional<std::string> browser_program(const environment& variables, bool is_root) {
  if (variables("DISPLAY").empty() && variables("WAYLAND_DISPLAY").empty()) return std::nullopt;
  if (auto program = variables("BROWSER"); is_program_name(program)) return program;
  if (is_root) return std::nullopt;
  return "xdg-open";
}

result<void> open_browser(const std::string& program, const std::string& url) {
  if (!is_browser_safe(url))
    return fail(errc::invalid_argument,
                "the authorization server's page is not at a plain https: address, so it was not opened");
  if (!is_program_name(program))
    return fail(errc::invalid_argument, "\"" + program + "\" is not the name or path of a program");
  std::string name = program;
  std::string page = url;
  char* const arguments[] = {name.data(), page.data(), nullptr};
  pid_t id = 0;
  detached_process process;
  if (const int error = process.run(id, arguments); error != 0)
    return fail(errc::source_unavailable, "cannot start " + program + ": " + std::strerror(error));
  return {};
}

namespace {

class browser_login final : public login_handler {
 public:
  explicit browser_login(browser_login_options options) : options_(std::move(options)) {}

  result<std::string> listen(const std::optional<std::string>& registered_uri) override {
    listener_.reset();
    HONDANA_TRY(auto listener, redirect_listener::open(registered_uri.value_or(std::string()), options_.port));
    listener_.emplace(std::move(listener));
    return listener_->url();
  }

  result<std::string> visit(const std::string& url, const std::stop_token& stop) override {
    if (!listener_) return fail(errc::internal, "the listener for the browser's redirect is missing");
    if (!is_browser_safe(url))
      return fail(errc::source_unavailable,
                  "the authorization server's page is not at a plain https: address, so it was not shown");
    const auto state = find_parameter(std::string_view(url).substr(std::min(url.find('?') + 1, url.size())), "state");
    if (!state) return fail(errc::internal, "the address of the authorization server's page has no state");
    show(url);
    std::string pasted;
    const auto accept_line = [&](std::string_view line) {
      while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
      while (line.starts_with(' ')) line.remove_prefix(1);
      if (line.empty()) return false;
      if (!line.starts_with(listener_->url() + '?')) {
        options_.print("This is not the expected address, which begins with " + listener_->url() + "?");
        return false;
      }
      pasted = line;
      return true;
    };
    auto redirect = listener_->wait(*state, options_.timeout, stop, options_.terminal, accept_line);
    listener_.reset();
    if (!redirect) return tl::unexpected(std::move(redirect.error()));
    return *redirect ? std::move(**redirect) : std::move(pasted);
  }

 private:
  void show(const std::string& url) {
    bool is_opened = false;
    if (options_.program) {
      const auto opened = open_browser(*options_.program, url);
      is_opened = opened.has_value();
      if (!opened) options_.print("The browser cannot be opened: " + opened.error().public_text + '.');
    }
    options_.print(is_opened ? "Log in on the page that your browser shows. If it shows none, visit:"
                             : "Visit this address to log in:");
    options_.print(url);
    if (options_.terminal >= 0)
      options_.print("Is the browser on another machine? Then the last page cannot be loaded; paste its address here.");
  }

  const browser_login_options options_;
  std::optional<redirect_listener> listener_;
};

}  // namespace

std::string redirect_url(std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port) + std::string(redirect_path); }

std::unique_ptr<login_handler> make_browser_login(browser_login_options options) {
  if (!options.print) options.print = [](std::string_view) {};
  return std::make_unique<browser_login>(std::move(options));
}

}  // namespace hondana::login
