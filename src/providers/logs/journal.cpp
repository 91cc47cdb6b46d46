/// Reading a journal: a handle for each call, since one is for one thread.
#include "providers/logs/journal.hpp"

#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include "bytes/digest.hpp"
#include "model/still_wanted.hpp"
#include "providers/logs/journal_entry.hpp"
#include "providers/logs/journal_follower.hpp"
#include "providers/logs/journal_library.hpp"
#include "providers/logs/journal_opening.hpp"
#include "providers/logs/journal_page.hpp"

namespace hondana::logs {
namespace {

using records::instant;

constexpr std::size_t entries_between_looks = 64;
constexpr std::uint64_t cost_of_entry = 512;

/// See `open_journal`.
class journal final : public records::log {
 public:
  journal(const journal_library& by, journal_options with) : by_(by), with_(std::move(with)) {}

  result<records::page> read(const records::query& what, const records::budget& most, const call& by) override {
    const auto asked = journal_query::of(what);
    if (!asked) return tl::unexpected(asked.error());
    auto in = open();
    if (!in) return tl::unexpected(std::move(in.error()));
    return read_page(by_, in->get(), *asked, with_.redact, most, by);
  }

  result<bool> walk(std::optional<instant> since, std::optional<instant> until, const records::budget& most, const call& by,
                    const std::function<bool(const records::record&)>& each) override;

  result<std::string> version(const call&) override {
    auto in = open();
    if (!in) return tl::unexpected(std::move(in.error()));
    // The newest entry, and the oldest, which goes when the journal is vacuumed.
    std::uint64_t oldest = 0;
    static_cast<void>(by_.get_cutoff_realtime_usec(in->get(), &oldest, nullptr));
    std::string newest;
    if (by_.seek_tail(in->get()) >= 0 && by_.previous(in->get()) > 0) newest = cursor_at(by_, in->get());
    return bytes::to_hex(bytes::digest_of(newest + ' ' + std::to_string(oldest)));
  }

  void follow(std::function<void()> changed) override {
    const std::lock_guard lock(following_);
    follower_.reset();
    if (changed) follower_ = std::make_unique<journal_follower>(by_, with_, std::move(changed));
  }

  [[nodiscard]] needs needed() const override {
    needs out;
    if (!with_.folder.empty()) {
      out.folders.push_back({with_.folder});
    } else {
      out.folders = {{"/var/log/journal"}, {"/run/log/journal"}, {"/etc/machine-id"}};
    }
    return out;
  }

  [[nodiscard]] std::string trouble() const override {
    const std::lock_guard lock(mutex_);
    return trouble_;
  }

 private:
  result<journal_handle> open() {
    auto opened = open_matching(by_, with_);
    const std::lock_guard lock(mutex_);
    trouble_ = opened ? std::string() : opened.error().public_text;
    return opened;
  }

  const journal_library& by_;
  const journal_options with_;
  mutable std::mutex mutex_;
  std::string trouble_;
  std::mutex following_;
  std::unique_ptr<journal_follower> follower_;
};

/// Stands before the entries that decide what is masked in the first one from `since` on.
int seek_before(const journal_library& by, sd_journal* in, std::optional<instant> since) {
  if (!since) return by.seek_head(in);
  if (const int code = by.seek_realtime_usec(in, static_cast<std::uint64_t>(std::max<instant>(*since, 0))); code < 0)
    return code;
  for (std::size_t i = 0; i < deciding_entries; ++i) {
    const int code = by.previous(in);
    if (code < 0) return code;
    if (code == 0) return by.seek_head(in);
  }
  return 0;
}

result<bool> journal::walk(std::optional<instant> since, std::optional<instant> until, const records::budget& most,
                           const call& by, const std::function<bool(const records::record&)>& each) {
  auto in = open();
  if (!in) return tl::unexpected(std::move(in.error()));
  if (const int code = seek_before(by_, in->get(), since); code < 0) return tl::unexpected(journal_failure("searched", code));
  entry_masker with;
  std::uint64_t scanned = 0;
  for (std::size_t count = 0;; ++count) {
    if (count % entries_between_looks == 0) {
      if (auto wanted = still_wanted(by); !wanted) return tl::unexpected(std::move(wanted.error()));
      if (std::chrono::steady_clock::now() >= most.deadline || scanned >= most.scanned_bytes) return false;
    }
    const int code = by_.next(in->get());
    if (code < 0) return tl::unexpected(journal_failure("read", code));
    if (code == 0) return true;
    auto one = read_entry(by_, in->get(), {}, with_.redact);
    scanned += one.message.size() + cost_of_entry;
    if (with_.redact) static_cast<void>(with.mask(one));
    if (until && one.time >= *until) return true;
    if (since && one.time < *since) continue;
    if (!each(record_of(std::move(one), most.record_bytes))) return false;
  }
}

}  // namespace

result<std::shared_ptr<records::log>> open_journal(journal_options with) {
  const auto library = loaded_journal_library();
  if (!library) return tl::unexpected(library.error());
  return std::shared_ptr<records::log>(std::make_shared<journal>(**library, std::move(with)));
}

}  // namespace hondana::logs
