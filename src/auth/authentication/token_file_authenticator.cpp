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

constexpr std::size_t most_lines_told = 5;
constexpr std::chrono::seconds until_repaired{30};
// After a token is removed from the file, its open streams end within this time.
constexpr std::chrono::seconds looked_at_again{30};

struct admitted {
  caller who;  // without an address
  std::optional<wall_time> expires;
};

/// The contents of the file. Immutable.
struct token_table {
  std::unordered_map<bytes::sha256_bytes, admitted, digest_hash> all;
  disk::stamp state{};
  bool is_settled = false;  // any later change of the file changes the stamp
  std::string problem;      // why the file could not be read; empty: it was read
};

void say(const token_file_options& options, const std::string& line) {
  if (options.log) options.log(line);
}

std::shared_ptr<const token_table> table_of(const loaded_tokens& from) {
  auto out = std::make_shared<token_table>();
  out->state = from.state;
  out->is_settled = !disk::is_racy(from.state, disk::wall_clock());
  out->all.reserve(from.list.tokens.size());
  for (const auto& one : from.list.tokens) {
    auto proved = std::make_shared<proof>();
    proved->scopes = one.scopes;
    proved->claims = value(value::object{{"token", one.id}});
    out->all.emplace(one.hash, admitted{{"token:" + one.name, {}, nullptr, std::move(proved)}, one.expires});
  }
  return out;
}

class static_tokens final : public authenticator {
 public:
  static_tokens(token_file_options options, std::shared_ptr<const token_table> table)
      : options_(std::move(options)), table_(std::move(table)) {}

  std::optional<authenticated> known(const request_facts& of) override {
    if (auto unfit = unfit_for_lookup(of)) return tl::unexpected(std::move(*unfit));
    const auto table = current();
    // One stat() per request, so that a revoked token is rejected from the next request on. A changed file is read on this
    // thread: it is small, and requests must not wait in the queue for network checks.
    return looked_up(is_current(*table) ? *table : *refreshed(), of);
  }

  authenticated find_out(const request_facts& of, std::chrono::steady_clock::time_point) override { return *known(of); }

  void tell_bad_lines(const token_list& list) const {
    for (std::size_t at = 0; at < list.bad.size() && at < most_lines_told; ++at) {
      const auto& one = list.bad[at];
      say(options_, options_.file + ':' + std::to_string(one.line) + " is ignored: " + one.why);
    }
    if (list.bad.size() > most_lines_told) say(options_, options_.file + " has more lines that are ignored");
  }

 private:
  [[nodiscard]] std::optional<challenge> unfit_for_lookup(const request_facts& of) const {
    if (!of.bearer) return nothing_sent("send a token created by 'hondana token new'", options_.scopes);
    if (!of.bearer->starts_with(token_prefix) || !is_token_text(*of.bearer))
      return bad_token("the token was not issued by this server", options_.scopes);
    return {};
  }

  [[nodiscard]] authenticated looked_up(const token_table& table, const request_facts& of) const {
    if (!table.problem.empty()) return tl::unexpected(cannot_tell("tokens cannot be checked now", until_repaired));
    const auto found = table.all.find(bytes::sha256_of(*of.bearer));
    if (found == table.all.end())
      return tl::unexpected(bad_token("unknown token: it was revoked or never created", options_.scopes));
    const auto now = std::chrono::system_clock::now();
    if (found->second.expires && *found->second.expires <= now)
      return tl::unexpected(bad_token("the token has expired", options_.scopes));
    auto holds = monotonic_clock::now();
    holds += found->second.expires
                 ? std::min<std::chrono::system_clock::duration>(*found->second.expires - now, looked_at_again)
                 : looked_at_again;
    known_caller who(found->second.who, holds);
    who.address = of.address;
    return who;
  }

  [[nodiscard]] std::shared_ptr<const token_table> current() const {
    const std::lock_guard lock(mutex_);
    return table_;
  }

  [[nodiscard]] bool is_current(const token_table& table) const {
    struct stat facts{};
    return table.is_settled && ::stat(options_.file.c_str(), &facts) == 0 && disk::stamp_of(facts) == table.state;
  }

  /// Reads the file, unless another thread has read this version of it meanwhile.
  [[nodiscard]] std::shared_ptr<const token_table> refreshed() {
    const std::lock_guard one_at_a_time(reading_);
    auto table = current();
    if (is_current(*table)) return table;
    auto loaded = load_tokens(options_.file);
    std::shared_ptr<const token_table> fresh;
    if (loaded) {
      if (!(loaded->state == table->state)) tell_bad_lines(loaded->list);
      if (!table->problem.empty()) say(options_, options_.file + " can be read again");
      fresh = table_of(*loaded);
    } else {
      const auto& why = loaded.error().public_text;
      // Tokens in an unreadable file may have been revoked, so all are rejected.
      if (table->problem != why) say(options_, why + "; until then all tokens are rejected");
      auto broken = std::make_shared<token_table>();
      broken->problem = why;
      fresh = std::move(broken);
    }
    const std::lock_guard lock(mutex_);
    table_ = fresh;
    return fresh;
  }

  const token_file_options options_;
  std::mutex reading_;
  mutable std::mutex mutex_;
  std::shared_ptr<const token_table> table_;
};

}  // namespace
}  // namespace hondana::authentication

namespace hondana::inline v0 {

result<std::shared_ptr<authenticator>> make_token_file_authenticator(token_file_options options) {
  auto loaded = authentication::load_tokens(options.file);
  if (!loaded) {
    auto why = std::move(loaded.error().public_text);
    if (loaded.error().code == errc::resource_not_found)
      why += "; 'hondana token new NAME --file " + options.file + "' creates it";
    return fail(errc::invalid_argument, std::move(why));
  }
  auto table = authentication::table_of(*loaded);
  const auto made = std::make_shared<authentication::static_tokens>(std::move(options), std::move(table));
  made->tell_bad_lines(loaded->list);
  return std::shared_ptr<authenticator>(made);
}

}  // namespace hondana::inline v0
