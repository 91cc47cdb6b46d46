/// `hondana watch`: prints changes of resources or of the list.

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/terminal/quantities.hpp"
#include "app/cli/verbs/commands.hpp"
#include "app/cli/verbs/entry_output.hpp"
#include "app/cli/verbs/typed_words.hpp"
#include "base/json/writer.hpp"
#include "os/disk/file_descriptor.hpp"

namespace hondana::cli {
namespace {

using clock = monotonic_clock;

// The number of consecutive exits of the server's program, each within five seconds of its start, before giving up.
constexpr unsigned most_quick_ends = 4;
// Bytes of content that prove that a resource exists. A smaller limit costs more, because more reads have to be cancelled.
constexpr std::size_t enough = 64u << 10;

std::string_view name_of(change_kind kind) {
  switch (kind) {
    case change_kind::resource:
      return "resource";
    case change_kind::resource_list:
      return "resourceList";
    case change_kind::tool_list:
      return "toolList";
    case change_kind::prompt_list:
      return "promptList";
    case change_kind::connection_lost:
      return "connectionLost";
    case change_kind::connection_back:
      return "connectionBack";
    case change_kind::refused:
      return "refused";
  }
  return "unknown";
}

auto now() { return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()); }

std::string json_of(const change& news) {
  std::string text;
  json::writer to(text);
  to.begin_object().member("change", name_of(news.kind)).member("time", iso_time(now()));
  to.member_if("uri", news.uri).member_if("title", news.title);
  if (news.was_missed) to.key("mayHaveBeenMissed").boolean(true);
  to.member_if("text", news.text);
  if (news.entry) {
    to.key("resource");
    write_entry(to, *news.entry);
  }
  to.end_object();
  return text;
}

std::string words_of(const change& news) {
  const auto what = [&news]() -> std::string {
    switch (news.kind) {
      case change_kind::resource:
        return "changed  " + visible(news.uri) + (news.title.empty() ? "" : "  " + visible(news.title));
      case change_kind::resource_list:
        return "the list of resources has changed";
      case change_kind::tool_list:
        return "the list of tools has changed";
      case change_kind::prompt_list:
        return "the list of prompts has changed";
      case change_kind::connection_lost:
        return "connection lost: " + visible(news.text);
      case change_kind::connection_back:
        return "connected again";
      case change_kind::refused:
        return "refused: " + visible(news.text);
    }
    return "something has changed";
  };
  return iso_time(now()) + "  " + what() + (news.was_missed ? "  (perhaps, while the connection was lost)" : "");
}

bool is_change(const change& news) {
  return news.kind != change_kind::connection_lost && news.kind != change_kind::connection_back &&
         news.kind != change_kind::refused;
}

/// Passes events from the callback threads to the waiting main thread. Threads: any.
class news_for_waiter {
 public:
  enum class kind : std::uint8_t { nothing, is_back, is_over };

  news_for_waiter() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  /// Reports that the connection is back.
  void back() { tell(is_back_); }
  /// Reports that the command is done.
  void over() { tell(is_over_); }
  /// Reports that the server's program keeps exiting; `how`: its last exit.
  void given_up(std::string_view how) {
    {
      const std::lock_guard lock(mutex_);
      last_end_ = how;
    }
    over();
  }
  /// How the program exited last; empty: it has not been given up.
  [[nodiscard]] std::string last_end() const {
    const std::lock_guard lock(mutex_);
    return last_end_;
  }
  /// Reports that the server no longer allows the caller to watch; `why`: its message.
  void refused(std::string_view why) {
    {
      const std::lock_guard lock(mutex_);
      refusal_ = why;
    }
    over();
  }
  /// The reason of the server; empty: watching is allowed.
  [[nodiscard]] std::string refusal() const {
    const std::lock_guard lock(mutex_);
    return refusal_;
  }
  [[nodiscard]] kind take() {
    eventfd_t count = 0;
    ::eventfd_read(event_.get(), &count);
    if (is_over_) return kind::is_over;
    return is_back_.exchange(false) ? kind::is_back : kind::nothing;
  }
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  void tell(std::atomic<bool>& what) {
    what = true;
    ::eventfd_write(event_.get(), 1);
  }
  disk::handle event_;
  std::atomic<bool> is_back_{false};
  std::atomic<bool> is_over_{false};
  mutable std::mutex mutex_;
  std::string last_end_;
  std::string refusal_;
};

/// Requests the first page of the list. Some servers watch their list only after a client has requested it.
result<void> ask_for_list(const task& what) {
  auto how = what.with.how();
  how.afresh = true;
  for (const auto& one : what.with.server().resources({}, how)) {
    if (!one) return tl::unexpected(one.error());
    break;
  }
  return {};
}

/// Waits for the interruption, the end of the time given with `--for`, or the end of the command. `of_list`: the list is
/// watched.
void wait_for(const task& what, news_for_waiter& news, bool of_list) {
  const auto seconds = what.line.number(for_flag);
  const auto until =
      clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds.value_or(0)));
  for (;;) {
    int left = -1;
    if (seconds) {
      const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()).count();
      if (rest <= 0) return;
      left = static_cast<int>(std::min<std::int64_t>(rest, 3'600'000));
    }
    // Watch standard output only for errors: its reader is gone.
    std::array<pollfd, 3> watched{
        {{what.interrupted.descriptor(), POLLIN, 0}, {news.descriptor(), POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
    if (::poll(watched.data(), watched.size(), monotonic_clock::poll_timeout(left)) <= 0) continue;
    if ((watched[2].revents & POLLERR) != 0) print("\n");  // fails like every later line, so that the exit code tells
    if (watched[0].revents != 0 || watched[2].revents != 0) return;
    const auto told = news.take();
    if (told == news_for_waiter::kind::is_over) return;
    // A restarted server does not know which clients requested the list before. If it is gone again, another event follows.
    if (told == news_for_waiter::kind::is_back && of_list) {
      if (auto asked = ask_for_list(what); !asked && !what.line.has(quiet_flag)) say(asked.error().public_text);
    }
  }
}

/// Whether a resource exists now, according to the server. Reads only the beginning of its content.
result<bool> exists(const task& what, const std::string& uri) {
  std::size_t seen = 0;
  const auto got = what.with.read_to(uri, [&seen](std::size_t, std::string_view bytes) -> result<void> {
    seen += bytes.size();
    return seen < enough ? result<void>() : fail(errc::cancelled, "it is there");
  });
  if (got || seen > 0) return true;
  if (got.error().code == errc::resource_not_found || got.error().code == errc::part_not_found) return false;
  // Any other read error does not mean that the resource is missing.
  if (got.error().code == errc::cancelled) return tl::unexpected(got.error());
  return true;
}

/// Whether the server's list of watched URIs contains `uri`. Servers may spell it differently.
bool is_among(const std::vector<std::string>& taken, const std::string& uri) {
  const auto canonical = canonical_uri(uri).value_or(uri);
  return std::any_of(taken.begin(), taken.end(),
                     [&](const std::string& one) { return one == uri || canonical_uri(one).value_or(one) == canonical; });
}

/// Reports the resources that do not exist yet, and those that the server cannot watch. Errors: resource_not_found for a
/// resource that neither exists nor is watched.
result<void> look_for_missing(const task& what, const std::vector<std::string>& uris, const std::vector<std::string>& taken) {
  for (const auto& uri : uris) {
    const bool is_taken = is_among(taken, uri);
    HONDANA_TRY(const auto is_there, exists(what, uri));
    if (!is_there && !is_taken)
      return tl::unexpected(blamed_on(
          uri, {errc::resource_not_found, uri + " does not exist, and the server does not notify when it is created.", {}}));
    if (what.line.has(quiet_flag)) continue;
    if (!is_there) say(uri + " does not exist yet; waiting for its creation");
    if (!is_taken) say("the server cannot watch " + uri);
  }
  return {};
}

/// The watched resources, for people, because a word may name another resource than expected.
std::string watched(const std::vector<std::string>& uris) {
  if (uris.empty()) return "the list";
  return uris.size() == 1 ? uris.front() : std::to_string(uris.size()) + " resources";
}

/// Reports exits of the server's program, and gives up after too many in a row.
void look_after_program(const task& what, const std::shared_ptr<news_for_waiter>& waiter) {
  what.with.on_program_end([waiter, is_quiet = what.line.has(quiet_flag)](std::string_view how, unsigned quick_ends) {
    const std::string ended = "the server's program " + std::string(how);
    if (quick_ends >= most_quick_ends) return waiter->given_up(ended);
    if (is_quiet) return;
    say(ended +
        (quick_ends == 0 ? std::string()
                         : " within five seconds of its start (" + std::to_string(quick_ends) + " of " +
                               std::to_string(most_quick_ends) + " times, then hondana gives up)") +
        "; restarting it");
  });
}

/// The URIs of the words on the command line, as the server lists them. Errors: those of `uri_of` and `as_listed`.
result<std::vector<std::string>> uris_of(const task& what) {
  std::vector<std::string> out;
  for (const auto& word : what.line.words()) {
    auto uri = what.with.uri_of(word);
    if (!uri && uri.error().code == errc::resource_not_found)
      return fail(errc::resource_not_found,
                  uri.error().public_text + "; to wait for a resource that does not exist yet, give its URI");
    if (uri) uri = as_listed(what.with.server().server(), *uri);
    if (!uri) return tl::unexpected(std::move(uri.error()));
    out.push_back(std::move(*uri));
  }
  if (auto file = what.with.file_uri(); !file.empty() && out.empty()) out.push_back(std::move(file));
  return out;
}

}  // namespace

int watch_changes(const task& what) {
  auto uris = uris_of(what);
  if (!uris) return what.with.explain(uris.error());
  const bool as_json = what.line.has(json_flag);
  const bool is_once = what.line.has(once_flag);
  const bool of_list = uris->empty();
  const watch_request wanted{.uris = std::move(*uris), .resource_list = of_list, .entries = as_json};
  const auto waiter = std::make_shared<news_for_waiter>();
  look_after_program(what, waiter);
  bool has_told = false;
  auto watching = what.with.server().watch(
      wanted,
      [&what, waiter, as_json, is_once, has_told](const change& news) mutable {
        if (has_told && is_once) return;
        if (as_json || is_change(news)) {
          as_json ? print_json(json_of(news)) : print(words_of(news) + '\n');
          flush_output();
        } else if (!what.line.has(quiet_flag) && news.kind != change_kind::refused) {
          say(words_of(news));
        }
        if (news.kind == change_kind::refused) waiter->refused(news.text);
        has_told = has_told || is_change(news);
        if ((has_told && is_once) || output_is_gone()) waiter->over();
        if (news.kind == change_kind::connection_back) waiter->back();
      },
      what.with.how());
  const bool is_refused = !watching && (watching.error().answer || watching.error().code == errc::unsupported);
  if (!watching && !is_refused) return what.with.explain(watching.error());
  const auto taken = watching ? watching->honoured().uris : std::vector<std::string>();
  if (auto looked = look_for_missing(what, wanted.uris, taken); !looked) return what.with.explain(looked.error());
  if (is_refused) return what.with.explain(watching.error());
  if (of_list) {
    if (auto asked = ask_for_list(what); !asked) return what.with.explain(asked.error());
  }
  // Print this to pipes too: a program that started this one may wait for it.
  if (!what.line.has(quiet_flag))
    say("watching " + watched(wanted.uris) + (what.shown.shows_errors ? "; end with Ctrl-C" : ""));
  wait_for(what, *waiter, of_list);
  if (const auto last = waiter->last_end(); !last.empty())
    return what.with.explain({errc::source_unavailable,
                              last + " within five seconds of its start, " + std::to_string(most_quick_ends) +
                                  " times in a row. Run it by itself to see why.",
                              {}});
  if (const auto why = waiter->refusal(); !why.empty()) {
    // A rejected list request tells which login would help.
    const auto asked = ask_for_list(what);
    const bool is_the_same = !asked && exit_code_of(asked.error().code) == exit_auth;
    return what.with.explain(is_the_same ? asked.error() : failure{errc::unauthorized, why, {}});
  }
  return exit_ok;
}

}  // namespace hondana::cli
