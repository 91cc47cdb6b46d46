/// What the person who logs in sees.
#include "auth/login/browser_login.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "auth/login/browser.hpp"
#include "auth/login/redirect_listener.hpp"
#include "auth/login/redirect_request.hpp"

namespace hondana::login {
namespace {

class browser_login final : public login_page {
 public:
  explicit browser_login(browser_login_options options) : options_(std::move(options)) {}

  result<std::string> begin(const std::string& before) override {
    listener_.reset();
    HONDANA_TRY(auto listening, redirect_listener::open(before, options_.port));
    listener_.emplace(std::move(listening));
    return listener_->url();
  }

  result<std::string> visit(const std::string& url, const std::stop_token& stop) override {
    if (!listener_) return fail(errc::internal, "the listener for the browser's redirect is missing");
    if (!may_be_shown(url))
      return fail(errc::source_unavailable,
                  "the authorization server's page is not at a plain https: address, so it was not shown");
    const auto state = parameter_in(std::string_view(url).substr(std::min(url.find('?') + 1, url.size())), "state");
    if (!state) return fail(errc::internal, "the address of the authorization server's page has no state");
    show(url);
    std::string pasted;
    const auto hears = [&](std::string_view line) {
      while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
      while (line.starts_with(' ')) line.remove_prefix(1);
      if (line.empty()) return false;
      if (!line.starts_with(listener_->url() + '?')) {
        options_.say("This is not the expected address, which begins with " + listener_->url() + "?");
        return false;
      }
      pasted = line;
      return true;
    };
    auto redirect = listener_->wait(*state, options_.time, stop, options_.typed, hears);
    listener_.reset();
    if (!redirect) return tl::unexpected(std::move(redirect.error()));
    return *redirect ? std::move(**redirect) : std::move(pasted);
  }

 private:
  void show(const std::string& url) {
    bool is_shown = false;
    if (options_.program) {
      const auto opened = open_browser(*options_.program, url);
      is_shown = opened.has_value();
      if (!opened) options_.say("The browser cannot be opened: " + opened.error().public_text + '.');
    }
    options_.say(is_shown ? "Log in on the page that your browser shows. If it shows none, visit:"
                          : "Visit this address to log in:");
    options_.say(url);
    if (options_.typed >= 0)
      options_.say("Is the browser on another machine? Then the last page cannot be loaded; paste its address here.");
  }

  const browser_login_options options_;
  std::optional<redirect_listener> listener_;
};

}  // namespace

std::string redirect_url(std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port) + std::string(redirect_path); }

std::unique_ptr<login_page> make_browser_login(browser_login_options options) {
  if (!options.say) options.say = [](std::string_view) {};
  return std::make_unique<browser_login>(std::move(options));
}

}  // namespace hondana::login
