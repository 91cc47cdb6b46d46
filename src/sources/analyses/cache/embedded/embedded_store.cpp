/// Opening the file, its clock, and its connections.
#include "sources/analyses/cache/embedded/embedded_store.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "os/disk/private_file.hpp"
#include "sources/analyses/cache/embedded/embedded_state.hpp"
#include "sources/analyses/cache/embedded/schema.hpp"
#include "sources/analyses/cache/ids.hpp"

namespace hondana::analyses {
namespace {

constexpr std::size_t most_idle = 16;
/// A clock that is ahead of the system's stands still for one in so many milliseconds, until that has caught up. Which ones
/// depends on the system's time alone, so that nothing is lost or won however often time is told, or noted, on the way.
constexpr std::int64_t every = 64;
constexpr std::int64_t slowed(std::int64_t system) { return system - system / every; }
/// Time that is ahead is noted twice as often by whoever tidies. Where the system's went on by more, and past what is noted,
/// its clock was set right.
constexpr std::int64_t longest_unnoted = 60'000;

}  // namespace

embedded_store::embedded_store(embedded_options from) : options_(std::move(from)), is_in_memory_(options_.path.empty()) {}

result<void> embedded_store::open() {
  if (!is_in_memory_) {
    const auto slash = options_.path.rfind('/');
    if (options_.path.front() == '/' && slash > 0) {
      if (auto made = disk::make_private_folder(options_.path.substr(0, slash)); !made)
        return sqlite::cannot_have(options_.path, kind_of_file(), made.error().public_text, made.error().private_text);
    }
  }
  HONDANA_TRY(auto opened, sqlite::open_owned(options_.path, kind_of_file(), options_.log));
  file_ = std::move(opened);
  writer_.on = std::move(file_.writer);
  if (!is_in_memory_ && !options_.is_synced) {
    HONDANA_TRY(writer_.on.run("PRAGMA synchronous=NORMAL"));
  }
  if (file_.was_suspect) sqlite::trust(options_.path);
  return {};
}

std::int64_t embedded_store::system_now() const {
  const auto when =
      options_.clock ? options_.clock() : std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
  return when.time_since_epoch().count();
}

result<embedded_store::times> embedded_store::times_in(opened_file& by) const {
  HONDANA_TRY(auto asking, by.ask("SELECT shown, system FROM state"));
  HONDANA_TRY(const auto more, asking->step());
  const auto system = system_now();
  if (!more) return times{system, system, false};
  const auto shown = asking->number(0), before = asking->number(1);
  auto here = system > before ? shown + slowed(system) - slowed(before) : shown;
  if (system > here || (system >= shown && system - before > longest_unnoted)) here = system;
  // What readers here were shown stands in no file.
  auto seen = seen_.load();
  while (seen < here && !seen_.compare_exchange_weak(seen, here)) {
  }
  const auto now = std::max(seen, here);
  return times{now, system, now > system};
}

result<std::int64_t> embedded_store::now_in(opened_file& by) const {
  const auto got = times_in(by);
  if (!got) return tl::unexpected(got.error());
  return got->now;
}

result<void> embedded_store::begin(ledger& into) {
  HONDANA_TRY(writer_.on.run("BEGIN IMMEDIATE"));
  HONDANA_TRY(const auto got, times_in(writer_));
  into.now = got.now;
  into.system = got.system;
  into.is_ahead = got.is_ahead;
  HONDANA_TRY(auto asking, writer_.ask("SELECT token, change, entries, bytes FROM state"));
  HONDANA_TRY(asking->step());
  into.token = asking->number(0);
  into.change = asking->number(1);
  into.entries = asking->number(2);
  into.bytes = asking->number(3);
  return {};
}

result<void> embedded_store::end(const ledger& from) {
  {
    HONDANA_TRY(auto asking, writer_.ask("UPDATE state SET shown=?1, system=?2, token=?3, change=?4, entries=?5, bytes=?6"));
    asking->bind(1, from.now).bind(2, from.system).bind(3, from.token).bind(4, from.change);
    asking->bind(5, from.entries).bind(6, from.bytes);
    HONDANA_TRY(asking->run());
  }
  auto done = writer_.on.run("COMMIT");
  if (!done) {
    if (writer_.on.is_in_transaction()) {
      const auto undone = writer_.on.run("ROLLBACK");
      static_cast<void>(undone);  // what cannot be rolled back now is so when the file is opened
    }
    return done;
  }
  const std::lock_guard held(hearing_);
  ++written_;
  heard_.notify_all();
  return {};
}

void embedded_store::noticed(const failure& what) const {
  if (!is_in_memory_ && sqlite::says_damaged(what)) sqlite::suspect(options_.path);
}

result<embedded_store::reader> embedded_store::reader::take(const embedded_store& from) {
  reader out(from);
  if (from.is_in_memory_) {
    out.holds_ = std::unique_lock(from.writing_);
    return out;
  }
  {
    const std::lock_guard held(from.reading_);
    if (!from.idle_.empty()) {
      out.own_ = std::move(from.idle_.back());
      from.idle_.pop_back();
    }
  }
  if (!out.own_) {
    auto opened = opened_to_read(from);
    if (!opened) return out.passed(std::move(opened.error()));
    out.own_ = std::move(*opened);
  }
  // All that one reader asks is of one moment: rows are taken anew, by others, between two statements.
  if (auto begun = out.own_->on.run("BEGIN"); !begun) return out.passed(std::move(begun.error()));
  return out;
}

result<std::unique_ptr<opened_file>> embedded_store::reader::opened_to_read(const embedded_store& from) {
  auto made = sqlite::connection::open(from.options_.path, what_a_store_is);
  if (made) {
    if (auto set = made->run("PRAGMA query_only=1; PRAGMA cache_size=-4096; PRAGMA busy_timeout=5000"); !set)
      made = tl::unexpected(std::move(set.error()));
  }
  if (!made) return tl::unexpected(std::move(made.error()));
  auto out = std::make_unique<opened_file>();
  out->on = std::move(*made);
  return out;
}

embedded_store::reader::~reader() {
  if (!own_) return;
  // One that cannot end what it began is not used again.
  if (own_->on.is_in_transaction() && !own_->on.run("ROLLBACK")) return;
  const std::lock_guard held(from_->reading_);
  if (from_->idle_.size() < most_idle) from_->idle_.push_back(std::move(own_));
}

result<instant> embedded_store::now() const {
  auto by = reader::take(*this);
  if (!by) return tl::unexpected(std::move(by.error()));
  auto got = now_in(by->file());
  if (!got) return by->passed(std::move(got.error()));
  return instant(milliseconds(*got));
}

result<std::shared_ptr<store>> open_embedded(embedded_options from) {
  auto made = std::make_shared<embedded_store>(std::move(from));
  HONDANA_TRY(made->open());
  return std::shared_ptr<store>(std::move(made));
}

}  // namespace hondana::analyses
