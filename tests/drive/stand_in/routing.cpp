/// Which call a path is.
#include <algorithm>
#include <utility>
#include <vector>

#include "drive/stand_in/errors.hpp"
#include "drive/stand_in/world.hpp"

namespace drive_test {
namespace {

/// Percent escapes of each segment are read after it was cut out: an id keeps its slashes.
std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> out;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const auto one = path.substr(0, path.find('/'));
    out.push_back(unescaped(one, false));
    path.remove_prefix(one.size());
  }
  return out;
}

answer no_such_page(const asked& from) {
  answer out;
  out.status = 404;
  out.type = "text/html; charset=UTF-8";
  out.body = "<!DOCTYPE html><html lang=en><title>Error 404 (Not Found)!!1</title><p>The requested URL <code>" + from.path +
             "</code> was not found on this server.</html>";
  return out;
}

answer read_of(const call& of, const std::vector<std::string>& at) {
  const auto count = at.size();
  if (at[2] == "about" && count == 3) return about(of);
  if (at[2] == "files") {
    if (count == 3) return list_files(of);
    if (count == 4) return get_file(of, at[3]);
    if (count == 5 && at[4] == "export") return export_file(of, at[3]);
    if (count == 5 && at[4] == "permissions") return list_permissions(of, at[3]);
  }
  if (at[2] == "changes") {
    if (count == 3) return list_changes(of);
    if (count == 4 && at[3] == "startPageToken") return start_page_token(of);
  }
  if (at[2] == "drives") {
    if (count == 3) return list_drives(of);
    if (count == 4) return get_drive(of, at[3]);
  }
  return no_such_page(of.from);
}

/// Counts a request; refuses one too many.
void spend(world& in, const std::string& user) {
  if (in.how.most_requests == 0) return;
  auto& [since, count] = in.spent[user];
  const auto now = now_ms();
  const auto window = in.how.quota_window.count();
  if (now - since >= window) {
    since = now;
    count = 0;
  }
  if (++count <= in.how.most_requests) return;
  auto out = error_of(403, "userRateLimitExceeded");
  out.more_fields = "Retry-After: " + std::to_string((since + window - now + 999) / 1000) + "\r\n";
  throw refused(std::move(out));
}

answer api(const asked& from, world& in, std::string& whom) {
  call of{from, in, caller_of(from, in), keys_of(from)};
  whom = of.by.whom;
  spend(in, whom);
  const auto at = segments_of(from.path);
  if (!from.path.starts_with("/drive/v3/")) return follow_export_link(of);
  if (at.size() < 3) return no_such_page(from);
  if (from.method == "GET") return read_of(of, at);
  if (from.method == "POST" && at.size() == 4 && at[2] == "changes" && at[3] == "watch") return watch_changes(of);
  if (from.method == "POST" && at.size() == 4 && at[2] == "channels" && at[3] == "stop") return stop_channel(of);
  // Nothing here is ever written by who asks: what Google says to who may only read.
  want_scope(of, {"drive"});
  refuse(403, "insufficientFilePermissions", at.size() > 3 ? at[3] : "");
}

}  // namespace

resource_keys keys_of(const asked& from) {
  resource_keys out;
  const auto header = from.field("x-goog-drive-resource-keys");
  std::string_view left = header;
  while (!left.empty()) {
    auto one = left.substr(0, left.find(','));
    left.remove_prefix(std::min(one.size() + 1, left.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    const auto slash = one.find('/');
    if (slash != std::string_view::npos) out.emplace(one.substr(0, slash), one.substr(slash + 1));
  }
  return out;
}

answer answer_to(const asked& from, world& in, std::string& whom) {
  try {
    if (from.path == "/token") return give_token(from, in);
    if (from.path == "/o/oauth2/v2/auth") return authorize(from, in);
    if (from.path == "/revoke") return revoke_token(from, in);
    if (from.path == "/tokeninfo") return tell_token(from, in);
    if (from.path.starts_with("/docs/securesc/")) return signed_export(from, in);
    const bool is_link = from.path.starts_with("/feeds/download/") || from.path == "/spreadsheets/export";
    if (from.path.starts_with("/drive/v3/") || is_link) return api(from, in, whom);
    return no_such_page(from);
  } catch (const refused& no) {
    return no.with();
  }
}

}  // namespace drive_test
