/// Channels that the thread opens and closes.
#include <algorithm>
#include <utility>

#include "sources/gdrive/follower.hpp"

namespace hondana::gdrive {
namespace {

/// For all of them together: what is not closed by then ends by itself, within a day.
constexpr std::chrono::seconds longest_closing{2};

}  // namespace

void follower::open_channels(const std::stop_token& stop) {
  {
    // Nobody hears notices of a check, or of a server that speaks over stdio.
    const std::lock_guard lock(mutex_);
    if (options_.notices.empty() || !is_listening_) return;
  }
  for (const auto& home : homes()) {
    const auto now = channels::clock::now();
    const auto& at = position_of(home);
    if (stop.stop_requested() || !at.is_crawled || at.start.empty() || !channels_.needs_one(home, now)) continue;
    auto asked = channels::request_for(home, at.start, options_.notices);
    if (!asked) return say(asked.error().public_text);
    channels_.expect(home, *asked, now);
    const auto answer = options_.from->watch(*asked, errand_of(stop, drive::lane::polling));
    if (!answer) {
      // Polling goes on, and finds everything all the same.
      channels_.refused(home, now);
      say(word_for_home(home) + ": Drive sends no change notifications: " + words_for_log(answer.error().why));
      continue;
    }
    if (const auto before = channels_.opened(home, *answer, now)) {
      const auto stopped = options_.from->stop(*before, errand_of(stop, drive::lane::polling));
      if (!stopped) say("a notification channel could not be closed, and will expire: " + stopped.error().why.public_text);
    }
  }
}

void follower::close_channels() {
  const auto until = clock::now() + longest_closing;
  for (const auto& one : channels_.close_all()) {
    if (clock::now() >= until) return say("not all notification channels could be closed in time; the others will expire");
    drive::errand how;
    how.until = until;
    how.of = drive::lane::polling;
    const auto stopped = options_.from->stop(one, how);
    if (!stopped) say("a notification channel could not be closed, and will expire: " + words_for_log(stopped.error().why));
  }
}

}  // namespace hondana::gdrive
