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
constexpr unsigned max_quick_exits = 4;
// Bytes of content that prove that a resource exists. A smaller limit costs more, because more reads have to be cancelled.
constexpr std::size_t probe_bytes = 64u << 10;

std::string_view name_of(watch_event_kind kind) {
  switch (kind) {
    case watch_event_kind::resource:
      return "resource";
    case watch_event_kind::resource_list:
      return "resourceList";
    case watch_event_kind::tool_list:
      return "toolList";
    case watch_event_kind::prompt_list:
      return "promptList";
    case watch_event_kind::connection_lost:
      return "connectionLost";
    case watch_event_kind::connection_restored:
      return "connectionRestored";
    case watch_event_kind::subscription_rejected:
      return "accessDenied";
  }
  return "unknown";
}

auto now() { return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()); }

std::string to_json(const watch_event& event) {
  std::string text;
  json::writer writer(text);
  writer.begin_object().member("change", name_of(event.kind)).member("time", iso_time(now()));
  writer.member_if("uri", event.uri).member_if("title", event.title);
  if (event.was_missed) writer.key("mayHaveBeenMissed").boolean(true);
  writer.member_if("text", event.reason);
  if (event.entry) {
    writer.key("resource");
    write_entry(writer, *event.entry);
  }
  writer.end_object();
  return text;
}

std::string to_text(const watch_event& event) {
  const auto describe = [&event]() -> std::string {
    switch (event.kind) {
      case watch_event_kind::resource:
        return "changed  " + sanitize(event.uri) + (event.title.empty() ? "" : "  " + sanitize(event.title));
      case watch_event_kind::resource_list:
        return "the list of resources has changed";
      case watch_event_kind::tool_list:
        return "the list of tools has changed";
      case watch_event_kind::prompt_list:
        return "the list of prompts has changed";
      case watch_event_kind::connection_lost:
        return "connection lost: " + sanitize(event.reason);
      case watch_event_kind::connection_restored:
        return "connected again";
      case watch_event_kind::subscription_rejected:
        return "refused: " + sanitize(event.reason);
    }
    return "something has changed";
  };
  return iso_time(now()) + "  " + describe() + (event.was_missed ? "  (perhaps, while the connection was lost)" : "");
}

bool is_change(const watch_event& event) {
  return event.kind != watch_event_kind::connection_lost && event.kind != watch_event_kind::connection_restored &&
         event.kind != watch_event_kind::subscription_rejected;
}

/// Passes events from the callback threads to the waiting main thread. Threads: any.
class watch_state {
 public:
  enum class kind : std::uint8_t { none, restored, finished };

  watch_state() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  /// Reports that the connection is back.
  void notify_restored() { set_flag(is_restored_); }
  /// Reports that the command is done.
  void notify_finished() { set_flag(is_finished_); }
  /// Reports that the server's program keeps exiting; `outcome`: its last exit.
  void notify_given_up(std::string_view outcome) {
    {
      const std::lock_guard lock(mutex_);
      last_exit_ = outcome;
    }
    notify_finished();
  }
  /// How the program exited last; empty: it has not been given up.
  [[nodiscard]] std::string last_exit() const {
    const std::lock_guard lock(mutex_);
    return last_exit_;
  }
  /// Reports that the server no longer allows the caller to watch; `reason`: its message.
  void notify_rejected(std::string_view reason) {
    {
      const std::lock_guard lock(mutex_);
      rejection_ = reason;
    }
    notify_finished();
  }
  /// The reason of the server; empty: watching is allowed.
  [[nodiscard]] std::string rejection() const {
    const std::lock_guard lock(mutex_);
    return rejection_;
  }
  [[nodiscard]] kind poll() {
    eventfd_t count = 0;
    ::eventfd_read(event_.get(), &count);
    if (is_finished_) return kind::finished;
    return is_restored_.exchange(false) ? kind::restored : kind::none;
  }
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  void set_flag(std::atomic<bool>& flag) {
    flag = true;
    ::eventfd_write(event_.get(), 1);
  }
  disk::handle event_;
  std::atomic<bool> is_restored_{false};
  std::atomic<bool> is_finished_{false};
  mutable std::mutex mutex_;
  std::string last_exit_;
  std::string rejection_;
};

/// Requests the first page of the list. Some servers watch their list only after a client has requested it.
result<void> request_list(const command_context& context) {
  auto options = context.connection.make_call_options();
  options.bypass_cache = true;
  for (const auto& entry : context.connection.mcp_client().resources({}, options)) {
    if (!entry) return tl::unexpected(entry.error());
    break;
  }
  return {};
}

/// Waits for the interruption, the end of the time given with `--for`, or the end of the command. `watches_list`: the list is
/// watched.
void wait_for_end(const command_context& context, watch_state& state, bool watches_list) {
  const auto seconds = context.line.number(for_flag);
  const auto deadline =
      clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds.value_or(0)));
  for (;;) {
    int timeout = -1;
    if (seconds) {
      const auto remaining = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now()).count();
      if (remaining <= 0) return;
      timeout = static_cast<int>(std::min<std::int64_t>(remaining, 3'600'000));
    }
    // Watch standard output only for errors: its reader is gone.
    std::array<pollfd, 3> watched{
        {{context.interrupt.descriptor(), POLLIN, 0}, {state.descriptor(), POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
    if (::poll(watched.data(), watched.size(), monotonic_clock::poll_timeout(timeout)) <= 0) continue;
    if ((watched[2].revents & POLLERR) != 0) print("\n");  // fails like every later line, so that the exit code tells
    if (watched[0].revents != 0 || watched[2].revents != 0) return;
    const auto kind = state.poll();
    if (kind == watch_state::kind::finished) return;
    // A restarted server does not know which clients requested the list before. If it is gone again, another event follows.
    if (kind == watch_state::kind::restored && watches_list) {
      if (auto status = request_list(context); !status && !context.line.has(quiet_flag))
        print_message(status.error().public_text);
    }
  }
}

/// Whether a resource exists now, according to the server. Reads only the beginning of its content.
result<bool> exists(const command_context& context, const std::string& uri) {
  std::size_t seen_bytes = 0;
  const auto response = context.connection.read_to(uri, [&seen_bytes](std::size_t, std::string_view bytes) -> result<void> {
    seen_bytes += bytes.size();
    return seen_bytes < probe_bytes ? result<void>() : fail(errc::cancelled, "it is there");
  });
  if (response || seen_bytes > 0) return true;
  if (response.error().code == errc::resource_not_found || response.error().code == errc::part_not_found) return false;
  // Any other read error does not mean that the resource is missing.
  if (response.error().code == errc::cancelled) return tl::unexpected(response.error());
  return true;
}

/// Whether the server's list of watched URIs contains `uri`. Servers may spell it differently.
bool contains_uri(const std::vector<std::string>& watched_uris, const std::string& uri) {
  const auto canonical = canonical_uri(uri).value_or(uri);
  return std::any_of(watched_uris.begin(), watched_uris.end(), [&](const std::string& candidate) {
    return candidate == uri || canonical_uri(candidate).value_or(candidate) == canonical;
  });
}

/// Reports the resources that do not exist yet, and those that the server cannot watch. Errors: resource_not_found for a
/// resource that neither exists nor is watched.
result<void> check_missing(const command_context& context, const std::vector<std::string>& uris,
                           const std::vector<std::string>& watched_uris) {
  for (const auto& uri : uris) {
    const bool is_watched = contains_uri(watched_uris, uri);
    HONDANA_TRY(const auto is_there, exists(context, uri));
    if (!is_there && !is_watched)
      return tl::unexpected(explain_uri_error(
          uri, {errc::resource_not_found, uri + " does not exist, and the server does not notify when it is created.", {}}));
    if (context.line.has(quiet_flag)) continue;
    if (!is_there) print_message(uri + " does not exist yet; waiting for its creation");
    if (!is_watched) print_message("the server cannot watch " + uri);
  }
  return {};
}

/// The watched resources, for people, because a word may name another resource than expected.
std::string describe_watched(const std::vector<std::string>& uris) {
  if (uris.empty()) return "the list";
  return uris.size() == 1 ? uris.front() : std::to_string(uris.size()) + " resources";
}

/// Reports exits of the server's program, and gives up after too many in a row.
void monitor_program(const command_context& context, const std::shared_ptr<watch_state>& state) {
  context.connection.on_program_exit(
      [state, is_quiet = context.line.has(quiet_flag)](std::string_view outcome, unsigned quick_exits) {
        const std::string message = "the server's program " + std::string(outcome);
        if (quick_exits >= max_quick_exits) return state->notify_given_up(message);
        if (is_quiet) return;
        print_message(message +
                      (quick_exits == 0 ? std::string()
                                        : " within five seconds of its start (" + std::to_string(quick_exits) + " of " +
                                              std::to_string(max_quick_exits) + " times, then hondana gives up)") +
                      "; restarting it");
      });
}

/// The URIs of the words on the command line, as the server lists them. Errors: those of `resolve_uri` and `to_listed_uri`.
result<std::vector<std::string>> resolve_uris(const command_context& context) {
  std::vector<std::string> out;
  for (const auto& word : context.line.words()) {
    auto uri = context.connection.resolve_uri(word);
    if (!uri && uri.error().code == errc::resource_not_found)
      return fail(errc::resource_not_found,
                  uri.error().public_text + "; to wait for a resource that does not exist yet, give its URI");
    if (uri) uri = to_listed_uri(context.connection.mcp_client().server(), *uri);
    if (!uri) return tl::unexpected(std::move(uri.error()));
    out.push_back(std::move(*uri));
  }
  if (auto file = context.connection.file_uri(); !file.empty() && out.empty()) out.push_back(std::move(file));
  return out;
}

}  // namespace

int watch_changes(const command_context& context) {
  auto uris = resolve_uris(context);
  if (!uris) return context.connection.report_failure(uris.error());
  const bool as_json = context.line.has(json_flag);
  const bool is_once = context.line.has(once_flag);
  const bool watches_list = uris->empty();
  const watch_request request{.uris = std::move(*uris), .resource_list = watches_list, .include_entries = as_json};
  const auto state = std::make_shared<watch_state>();
  monitor_program(context, state);
  bool has_reported = false;
  auto handle = context.connection.mcp_client().watch(
      request,
      [&context, state, as_json, is_once, has_reported](const watch_event& event) mutable {
        if (has_reported && is_once) return;
        if (as_json || is_change(event)) {
          as_json ? print_json(to_json(event)) : print(to_text(event) + '\n');
          flush_output();
        } else if (!context.line.has(quiet_flag) && event.kind != watch_event_kind::subscription_rejected) {
          print_message(to_text(event));
        }
        if (event.kind == watch_event_kind::subscription_rejected) state->notify_rejected(event.reason);
        has_reported = has_reported || is_change(event);
        if ((has_reported && is_once) || is_output_closed()) state->notify_finished();
        if (event.kind == watch_event_kind::connection_restored) state->notify_restored();
      },
      context.connection.make_call_options());
  const bool is_rejected = !handle && (handle.error().server_error || handle.error().code == errc::unsupported);
  if (!handle && !is_rejected) return context.connection.report_failure(handle.error());
  const auto watched_uris = handle ? handle->accepted().uris : std::vector<std::string>();
  if (auto checked = check_missing(context, request.uris, watched_uris); !checked)
    return context.connection.report_failure(checked.error());
  if (is_rejected) return context.connection.report_failure(handle.error());
  if (watches_list) {
    if (auto status = request_list(context); !status) return context.connection.report_failure(status.error());
  }
  // Print this to pipes too: a program that started this one may wait for it.
  if (!context.line.has(quiet_flag))
    print_message("watching " + describe_watched(request.uris) + (context.terminal.is_stderr_tty ? "; end with Ctrl-C" : ""));
  wait_for_end(context, *state, watches_list);
  if (const auto last = state->last_exit(); !last.empty())
    return context.connection.report_failure({errc::source_unavailable,
                                              last + " within five seconds of its start, " + std::to_string(max_quick_exits) +
                                                  " times in a row. Run it by itself to see why.",
                                              {}});
  if (const auto reason = state->rejection(); !reason.empty()) {
    // A rejected list request tells which login would help.
    const auto status = request_list(context);
    const bool is_auth_error = !status && exit_code_of(status.error().code) == exit_auth;
    return context.connection.report_failure(is_auth_error ? status.error() : failure{errc::unauthorized, reason, {}});
  }
  return exit_ok;
}

}  // namespace hondana::cli
