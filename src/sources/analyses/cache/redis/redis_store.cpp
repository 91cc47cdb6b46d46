/// Connections to Redis, taken and given back, and what is asked again after one was lost.
#include "sources/analyses/cache/redis/redis_store.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/analyses/cache/redis/redis_state.hpp"

namespace hondana::analyses {
namespace {

constexpr std::size_t most_connections = 16;
constexpr std::size_t most_idle_connections = 8;

/// Whether "7.0.15" is 6.2 or newer.
bool is_new_enough(std::string_view info) {
  static constexpr std::string_view name = "redis_version:";
  const auto at = info.find(name);
  if (at == std::string_view::npos) return true;  // something that says to be Redis
  int major = 0, minor = 0;
  const auto rest = info.substr(at + name.size());
  const auto* const end = rest.data() + rest.size();
  const auto dot = std::from_chars(rest.data(), end, major).ptr;
  if (dot != end && *dot == '.') std::from_chars(dot + 1, end, minor);
  return major > 6 || (major == 6 && minor >= 2);
}

}  // namespace

class redis_store::borrowed {
 public:
  explicit borrowed(const redis_store& from) noexcept : from_(&from) {}
  borrowed(borrowed&& other) noexcept : from_(std::exchange(other.from_, nullptr)), own_(std::move(other.own_)) {}
  borrowed& operator=(borrowed&&) = delete;
  ~borrowed() {
    if (from_ == nullptr) return;
    const std::lock_guard held(from_->taking_);
    --from_->taken_;
    if (own_ && from_->idle_.size() < most_idle_connections) from_->idle_.push_back(std::move(own_));
    from_->given_back_.notify_one();
  }
  void give(std::unique_ptr<redis_connection> one) { own_ = std::move(one); }
  void throw_away() { own_.reset(); }
  [[nodiscard]] redis_connection* get() const noexcept { return own_.get(); }

 private:
  const redis_store* from_;
  std::unique_ptr<redis_connection> own_{};
};

redis_store::redis_store(redis_options from, redis_address where, tls_context tls)
    : options_(std::move(from)), where_(std::move(where)), tls_(std::move(tls)), root_('{' + options_.prefix + "}:analyses:") {}

void redis_store::log(std::string_view line) const {
  if (options_.log) options_.log(line);
}

result<redis_store::borrowed> redis_store::take() const {
  std::unique_lock held(taking_);
  if (!monotonic_clock::wait_for(given_back_, held, options_.patience, [this] { return taken_ < most_connections; })) {
    return hondana::fail(errc::overloaded,
                         "all connections to " + where_.name + ", where analyses are stored, are busy; retry later");
  }
  ++taken_;
  borrowed out(*this);
  while (!idle_.empty() && out.get() == nullptr) {
    auto one = std::move(idle_.back());
    idle_.pop_back();
    if (one->is_quiet()) out.give(std::move(one));
  }
  held.unlock();
  if (out.get() != nullptr) return out;
  HONDANA_TRY(auto made, redis_connection::open(where_, options_, tls_.get()));
  out.give(std::make_unique<redis_connection>(std::move(made)));
  return out;
}

result<reply> redis_store::try_once(const words& what, milliseconds longer, bool& may_repeat) const {
  auto by = take();
  if (!by) {
    may_repeat = false;  // nobody is there
    return tl::unexpected(std::move(by.error()));
  }
  auto said = by->get()->ask(what, longer);
  if (said) return said;
  may_repeat = may_repeat || !by->get()->was_sent();
  if (said.error().code == errc::timed_out) may_repeat = false;
  by->throw_away();
  return said;
}

result<reply> redis_store::ask(const words& what, repeating how, milliseconds longer) const {
  bool may_repeat = how == repeating::harmless;
  auto said = try_once(what, longer, may_repeat);
  // The server may have been started again since.
  if (!said && may_repeat) said = try_once(what, longer, may_repeat);
  return said;
}

result<reply> redis_store::run(script which, const words& with, repeating how) const {
  words all{"EVALSHA", digests_[static_cast<std::size_t>(which)], "1", root_};
  all.insert(all.end(), with.begin(), with.end());
  auto said = ask(all, how);
  if (said && said->is_error() && said->text.starts_with("NOSCRIPT")) {
    // It was started again, or its scripts were flushed: nothing was run.
    all[0] = "EVAL";
    all[1] = text_of(which);
    said = ask(all, how);
  }
  if (said && said->is_error()) return refused_by(where_.name, *said);
  return said;
}

result<std::string> redis_store::setting(const char* name) const {
  auto said = ask({"CONFIG", "GET", name}, repeating::harmless);
  if (!said) return tl::unexpected(std::move(said.error()));
  return said->at(1).text;
}

result<void> redis_store::look_at_server() {
  HONDANA_TRY(const auto info, ask({"INFO", "server"}, repeating::harmless));
  if (info.is_error() && !info.text.starts_with("NOPERM")) return refused_by(where_.name, info);
  if (!info.is_error() && !is_new_enough(info.text))
    return hondana::fail(errc::source_unavailable, where_.name + " is older than Redis 6.2; analyses require 6.2 or newer");
  for (std::size_t i = 0; i < digests_.size(); ++i) {
    HONDANA_TRY(const auto loaded, ask({"SCRIPT", "LOAD", text_of(static_cast<script>(i))}, repeating::harmless));
    if (loaded.is_error()) return refused_by(where_.name, loaded);
    digests_[i] = loaded.text;
  }
  // Who claims writes it: a server without memory is opened as well, to read and to forget.
  const auto form_key = root_ + "form";
  HONDANA_TRY(const auto form, ask({"GET", form_key}, repeating::harmless));
  if (form.is_error()) return refused_by(where_.name, form);
  if (!form.is_null() && form.text != form_of_keys)
    return hondana::fail(errc::source_unavailable,
                         "the analyses in " + where_.name + " with the prefix " + options_.prefix +
                             " were written by a newer version of hondana; upgrade hondana, or set another redis_prefix");
  // Frees, or does nothing, so that a full server lets it through.
  HONDANA_TRY(const auto written, ask({"DEL", root_ + "none"}, repeating::harmless));
  if (written.is_error()) log(where_.name + " rejects writes of this user, so analyses are read-only: " + written.text);
  const auto appended = setting("appendonly"), synced = setting("appendfsync"), evicted = setting("maxmemory-policy");
  if (!appended || !synced || !evicted) return tl::unexpected((!appended ? appended : !synced ? synced : evicted).error());
  if (appended->empty()) {
    log("cannot check whether " + where_.name + " persists acknowledged writes: this user may not read its configuration");
    return {};
  }
  if (*appended != "yes") {
    log(where_.name + " has no append-only file: analyses are lost when it stops; set appendonly yes and appendfsync always");
  } else if (*synced != "always") {
    log(where_.name + " acknowledges writes before it syncs them (appendfsync " + *synced +
        "): a crash loses the last seconds; set appendfsync always");
  }
  if (!evicted->empty() && *evicted != "noeviction")
    log(where_.name + " evicts keys by itself (maxmemory-policy " + *evicted + "), also parts of analyses; set noeviction");
  return {};
}

result<void> redis_store::open() {
  HONDANA_TRY(look_at_server());
  HONDANA_TRY(now());
  return {};
}

result<instant> redis_store::now() const {
  HONDANA_TRY(const auto said, ask({"TIME"}, repeating::harmless));
  if (said.is_error()) return refused_by(where_.name, said);
  return instant(milliseconds(said.at(0).as_number() * 1000 + said.at(1).as_number() / 1000));
}

result<std::shared_ptr<store>> open_redis(redis_options from) {
  HONDANA_TRY(check(from));
  HONDANA_TRY(auto where, redis_address_of(from.url));
  tls_context tls;
  if (where.is_tls) {
    HONDANA_TRY(auto made, make_client_context(from));
    tls = std::move(made);
  }
  auto made = std::make_shared<redis_store>(std::move(from), std::move(where), std::move(tls));
  HONDANA_TRY(made->open());
  return std::shared_ptr<store>(std::move(made));
}

}  // namespace hondana::analyses
