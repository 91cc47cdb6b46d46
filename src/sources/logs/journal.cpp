/// Reading a journal: a handle for each call, since one is for one thread.
#include "sources/logs/journal.hpp"

#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include <hondana/clock.hpp>

#include "base/bytes/digest.hpp"
#include "protocol/model/still_wanted.hpp"
#include "sources/logs/journal_entry.hpp"
#include "sources/logs/journal_files.hpp"
#include "sources/logs/journal_follower.hpp"
#include "sources/logs/journal_library.hpp"
#include "sources/logs/journal_opening.hpp"
#include "sources/logs/journal_page.hpp"

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
    HONDANA_TRY(const auto asked, journal_query::of(what));
    journal_files files;
    HONDANA_TRY(auto in, open(&files));
    auto page = read_page(by_, in.get(), asked, with_.redact, most, by);
    if (page && files.refused != 0) page->remarks.insert(page->remarks.begin(), files.remark());
    return page;
  }

  result<records::walk_end> walk(std::optional<instant> since, std::optional<instant> until, const records::budget& most,
                                 const call& by, const std::function<bool(const records::record&)>& each) override;

  result<std::string> version(const call&) override {
    journal_files files;
    HONDANA_TRY(auto in, open(&files));
    // The newest entry, and the oldest, which goes when the journal is vacuumed.
    std::uint64_t oldest = 0;
    static_cast<void>(by_.get_cutoff_realtime_usec(in.get(), &oldest, nullptr));
    std::string newest;
    if (by_.seek_tail(in.get()) >= 0 && by_.previous(in.get()) > 0) newest = cursor_at(by_, in.get());
    return bytes::to_hex(bytes::digest_of(newest + ' ' + std::to_string(oldest) + ' ' + files.remark()));
  }

  result<journal_fields> own_fields(std::string_view name, std::size_t newest, const records::budget& most,
                                    const call& by) override {
    HONDANA_TRY(auto in, open());
    journal_fields out;
    if (const int code = by_.seek_tail(in.get()); code < 0) return tl::unexpected(journal_failure("searched", code));
    for (std::size_t count = 0; count < newest && by_.previous(in.get()) > 0; ++count) {
      if (count % entries_between_looks == 0) {
        HONDANA_TRY(still_wanted(by));
        if (monotonic_clock::now() >= most.deadline) break;
      }
      add_fields(by_, in.get(), name, with_.redact, out);
    }
    return out;
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

  void look() override {
    // Opening maps every file; whether they may be read is enough.
    const auto files = look_at_journal(with_.folder);
    remember(files ? std::string() : files.error().public_text);
  }

  [[nodiscard]] std::string trouble() const override {
    const std::lock_guard lock(mutex_);
    return trouble_;
  }

 private:
  result<journal_handle> open(journal_files* found = nullptr) {
    auto files = look_at_journal(with_.folder);
    auto opened = files ? open_matching(by_, with_) : result<journal_handle>(tl::unexpected(files.error()));
    remember(opened ? std::string() : opened.error().public_text);
    if (files && found != nullptr) *found = *files;
    return opened;
  }
  void remember(std::string what) {
    const std::lock_guard lock(mutex_);
    trouble_ = std::move(what);
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

result<records::walk_end> journal::walk(std::optional<instant> since, std::optional<instant> until, const records::budget& most,
                                        const call& by, const std::function<bool(const records::record&)>& each) {
  HONDANA_TRY(auto in, open());
  if (const int code = seek_before(by_, in.get(), since); code < 0) return tl::unexpected(journal_failure("searched", code));
  entry_masker with;
  std::uint64_t scanned = 0;
  for (std::size_t count = 0;; ++count) {
    if (count % entries_between_looks == 0) {
      HONDANA_TRY(still_wanted(by));
      if (monotonic_clock::now() >= most.deadline || scanned >= most.scanned_bytes) return records::walk_end{.is_whole = false};
    }
    const int code = by_.next(in.get());
    if (code < 0) return tl::unexpected(journal_failure("read", code));
    if (code == 0) return records::walk_end{};
    auto one = read_entry(by_, in.get(), {}, with_.redact, most.record_bytes);
    scanned += one.message.size() + one.cut + cost_of_entry;
    if (with_.redact) static_cast<void>(with.mask(one));
    if (until && one.time >= *until) return records::walk_end{};
    if (since && one.time < *since) continue;
    if (!each(record_of(std::move(one), most.record_bytes))) return records::walk_end{.is_whole = false};
  }
}

}  // namespace

result<std::shared_ptr<records::log>> open_journal(journal_options with) {
  HONDANA_TRY(const auto library, loaded_journal_library());
  return std::shared_ptr<records::log>(std::make_shared<journal>(*library, std::move(with)));
}

}  // namespace hondana::logs
