/// Authenticates callers by the tokens in a file.

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <hondana/authenticators.hpp>
#include <hondana/clock.hpp>

#include "auth/authentication/bearer_tokens.hpp"
#include "auth/authentication/token_cache.hpp"
#include "auth/authentication/token_file.hpp"

namespace hondana::authentication {
namespace {

constexpr std::size_t max_reported_lines = 5;
constexpr std::chrono::seconds repair_delay{30};
// After a token is removed from the file, its open streams end within this time.
constexpr std::chrono::seconds recheck_interval{30};

struct token_entry {
  caller_info owner;  // without an address
  std::optional<wall_time> expires_at;
};

/// The contents of the file. Immutable.
struct token_table {
  std::unordered_map<bytes::sha256_bytes, token_entry, digest_hash> entries;
  disk::stamp stamp{};
  bool is_stable = false;  // any later change of the file changes the stamp
  std::string error;       // why the file could not be read; empty: it was read
};

void log_line(const token_file_options& options, const std::string& line) {
  if (options.log) options.log(line);
}

std::shared_ptr<const token_table> make_table(const loaded_tokens& loaded) {
  auto out = std::make_shared<token_table>();
  out->stamp = loaded.stamp;
  out->is_stable = !disk::is_racy(loaded.stamp, disk::wall_clock());
  out->entries.reserve(loaded.list.tokens.size());
  for (const auto& token : loaded.list.tokens) {
    auto info = std::make_shared<auth_info>();
    info->scopes = token.scopes;
    info->claims = value(value::object{{"token", token.id}});
    out->entries.emplace(token.hash, token_entry{{"token:" + token.name, {}, nullptr, std::move(info)}, token.expires_at});
  }
  return out;
}

class token_file_authenticator final : public authenticator {
 public:
  token_file_authenticator(token_file_options options, std::shared_ptr<const token_table> table)
      : options_(std::move(options)), table_(std::move(table)) {}

  std::optional<auth_result> try_authenticate(const auth_request& request) override {
    if (auto rejection = check_request(request)) return tl::unexpected(std::move(*rejection));
    const auto table = current();
    // One stat() per request, so that a revoked token is rejected from the next request on. A changed file is read on this
    // thread: it is small, and requests must not wait in the queue for network checks.
    return lookup(is_current(*table) ? *table : *refresh(), request);
  }

  auth_result authenticate(const auth_request& request, std::chrono::steady_clock::time_point) override {
    return *try_authenticate(request);
  }

  void report_bad_lines(const token_list& list) const {
    for (std::size_t i = 0; i < list.bad_lines.size() && i < max_reported_lines; ++i) {
      const auto& entry = list.bad_lines[i];
      log_line(options_, options_.file + ':' + std::to_string(entry.line) + " is ignored: " + entry.reason);
    }
    if (list.bad_lines.size() > max_reported_lines) log_line(options_, options_.file + " has more lines that are ignored");
  }

 private:
  [[nodiscard]] std::optional<auth_rejection> check_request(const auth_request& request) const {
    if (!request.bearer_token)
      return missing_credentials("send a token created by 'hondana token new'", options_.challenge_scopes);
    if (!request.bearer_token->starts_with(token_prefix) || !is_token_text(*request.bearer_token))
      return invalid_token("the token was not issued by this server", options_.challenge_scopes);
    return {};
  }

  [[nodiscard]] auth_result lookup(const token_table& table, const auth_request& request) const {
    if (!table.error.empty()) return tl::unexpected(temporarily_unavailable("tokens cannot be checked now", repair_delay));
    const auto match = table.entries.find(bytes::sha256_of(*request.bearer_token));
    if (match == table.entries.end())
      return tl::unexpected(invalid_token("unknown token: it was revoked or never created", options_.challenge_scopes));
    const auto now = std::chrono::system_clock::now();
    if (match->second.expires_at && *match->second.expires_at <= now)
      return tl::unexpected(invalid_token("the token has expired", options_.challenge_scopes));
    auto expiry = monotonic_clock::now();
    expiry += match->second.expires_at
                  ? std::min<std::chrono::system_clock::duration>(*match->second.expires_at - now, recheck_interval)
                  : recheck_interval;
    authenticated_caller caller(match->second.owner, expiry);
    caller.address = request.address;
    return caller;
  }

  [[nodiscard]] std::shared_ptr<const token_table> current() const {
    const std::lock_guard lock(mutex_);
    return table_;
  }

  [[nodiscard]] bool is_current(const token_table& table) const {
    struct stat attributes{};
    return table.is_stable && ::stat(options_.file.c_str(), &attributes) == 0 && disk::stamp_of(attributes) == table.stamp;
  }

  /// Reads the file, unless another thread has read this version of it meanwhile.
  [[nodiscard]] std::shared_ptr<const token_table> refresh() {
    const std::lock_guard read_lock(read_mutex_);
    auto table = current();
    if (is_current(*table)) return table;
    auto loaded = load_tokens(options_.file);
    std::shared_ptr<const token_table> fresh;
    if (loaded) {
      if (!(loaded->stamp == table->stamp)) report_bad_lines(loaded->list);
      if (!table->error.empty()) log_line(options_, options_.file + " can be read again");
      fresh = make_table(*loaded);
    } else {
      const auto& reason = loaded.error().public_text;
      // Tokens in an unreadable file may have been revoked, so all are rejected.
      if (table->error != reason) log_line(options_, reason + "; until then all tokens are rejected");
      auto broken = std::make_shared<token_table>();
      broken->error = reason;
      fresh = std::move(broken);
    }
    const std::lock_guard lock(mutex_);
    table_ = fresh;
    return fresh;
  }

  const token_file_options options_;
  std::mutex read_mutex_;
  mutable std::mutex mutex_;
  std::shared_ptr<const token_table> table_;
};

}  // namespace
}  // namespace hondana::authentication

namespace hondana::inline v0 {

result<std::shared_ptr<authenticator>> make_token_file_authenticator(token_file_options options) {
  auto loaded = authentication::load_tokens(options.file);
  if (!loaded) {
    auto reason = std::move(loaded.error().public_text);
    if (loaded.error().code == errc::resource_not_found)
      reason += "; 'hondana token new NAME --file " + options.file + "' creates it";
    return fail(errc::invalid_argument, std::move(reason));
  }
  auto table = authentication::make_table(*loaded);
  const auto created = std::make_shared<authentication::token_file_authenticator>(std::move(options), std::move(table));
  created->report_bad_lines(loaded->list);
  return std::shared_ptr<authenticator>(created);
}

}  // namespace hondana::inline v0
