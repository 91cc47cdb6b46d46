/// Makes a mount from its `[[source]]` table, or from what an application says.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/authorization.hpp>
#include <hondana/mcp.hpp>
#include <hondana/uri.hpp>

#include "auth/credentials/store.hpp"
#include "auth/credentials/stored_log_in.hpp"
#include "os/disk/spool.hpp"
#include "sources/config/section.hpp"
#include "sources/mcp/foreign.hpp"
#include "sources/mcp/mcp_provider.hpp"
#include "sources/mcp/settings.hpp"

namespace hondana::mcp {
namespace {

/// Where a program is, as execvp finds it; empty when it is nowhere.
std::string program_path(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    std::error_code ignored;  // what has no absolute path is not there, which starting it will tell
    const auto path = std::filesystem::absolute(name, ignored);
    return ignored ? std::string() : path.string();
  }
  const auto paths = environment_variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  for (std::string_view rest = paths; !rest.empty();) {
    const auto colon = rest.find(':');
    const auto candidate = std::string(rest.substr(0, colon)) + '/' + name;
    if (candidate.front() == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  return {};
}

bool has_environment_proxy() {
  constexpr std::array names{"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  return std::any_of(names.begin(), names.end(), [](const char* name) { return environment_variable(name).has_value(); });
}

/// Whoever asks this server need not hear where its sources are, and who logs in there; the log does.
class discreet_tokens final : public token_source {
 public:
  explicit discreet_tokens(std::shared_ptr<token_source> of) : of_(std::move(of)) {}

  std::optional<std::string> token() override { return of_->token(); }
  result<void> obtain(const refused_token& why, const std::stop_token& stop) override {
    auto done = of_->obtain(why, stop);
    // Of a refusal nothing is passed on anyway.
    if (done || done.error().code == errc::cancelled || done.error().code == errc::unauthorized) return done;
    auto& told = done.error();
    told.private_text = told.public_text + (told.private_text.empty() ? "" : " (" + told.private_text + ')');
    told.public_text = refuses_us;
    return done;
  }

 private:
  const std::shared_ptr<token_source> of_;
};

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto settings, read_settings(from));
  settings.log = log;
  if (auto* http = std::get_if<http_target>(&settings.target)) {
    auto tokens = credentials::stored_log_in(
        *http, credentials::make_store(),
        "log in with 'hondana login --on " + settings.name + "' and this server's --config, as the user that runs it", log);
    if (tokens) http->tokens = std::make_shared<discreet_tokens>(std::move(tokens));
  }
  return make_mcp_provider(std::move(settings));
}

hondana::needs mcp_provider::needs() const {
  hondana::needs all;
  all.folders.push_back({disk::spool::folder(), true});
  const auto& target = upstream_.options().target;
  if (const auto* child = std::get_if<child_target>(&target)) {
    if (auto path = child->command.empty() ? std::string() : program_path(child->command.front()); !path.empty())
      all.programs.push_back(std::move(path));
  } else if (const auto* http = std::get_if<http_target>(&target)) {
    for (const auto* file : {&http->authorities, &http->certificate, &http->key}) {
      if (!file->empty()) all.folders.push_back({std::filesystem::absolute(*file).string(), false});
    }
    if (!http->socket.empty()) {
      all.sockets.push_back(http->socket);
    } else {
      const auto parts = split_uri(http->url);
      std::string where(parts.authority.value_or(""));
      const auto port = where.find(':', where.find(']') == std::string::npos ? 0 : where.find(']'));
      if (port == std::string::npos) where += parts.scheme == "https" ? ":443" : ":80";
      all.sockets.push_back(std::move(where));
      // Only the server says where its authorization server is, and a proxy may be anywhere.
      if (http->tokens || (http->proxy != "none" && !http->proxy.empty()) || (http->proxy.empty() && has_environment_proxy()))
        all.sockets.emplace_back("*:*");
    }
    if (const auto file = credentials::usual_file(); http->tokens && !file.empty()) {
      all.folders.push_back({std::filesystem::path(file).parent_path().string(), true});
      const auto session = oauth_session::of(http->url, {});
      for (const auto& key : session ? credentials::key_files_for((*session)->resource()) : std::vector<std::string>())
        all.folders.push_back({std::filesystem::path(key).parent_path().string(), false});
    }
  }
  return all;
}

}  // namespace hondana::mcp

namespace hondana::inline v0 {

result<std::shared_ptr<provider>> make_mcp_provider(mount_options options) {
  HONDANA_TRY(mcp::check(options));
  return std::shared_ptr<provider>(std::make_shared<mcp::mcp_provider>(std::move(options)));
}

}  // namespace hondana::inline v0
