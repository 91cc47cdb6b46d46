/// How the stand-in listens, logs, and goes wrong on order.
#include "drive/stand_in/server.hpp"

#include <zlib.h>
#include <boost/json.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "deadline.hpp"
#include "drive/stand_in/account_key.hpp"
#include "drive/stand_in/channels.hpp"
#include "drive/stand_in/control.hpp"
#include "drive/stand_in/errors.hpp"
#include "drive/stand_in/exports.hpp"
#include "drive/stand_in/seed.hpp"
#include "drive/stand_in/world.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace drive_test {
namespace {

using hondana_test::heard_request;
using hondana_test::scripted_connection;

asked asked_in(const heard_request& from) {
  asked out;
  out.method = from.method;
  const auto mark = std::min(from.target.find('?'), from.target.size());
  out.path = from.target.substr(0, mark);
  out.query = from.target.substr(std::min(mark + 1, from.target.size()));
  out.parameters = form_of(out.query);
  out.fields = from.fields;
  out.body = from.body;
  return out;
}

logged entry_of(const asked& from) {
  logged out;
  out.method = from.method;
  out.path = from.path;
  out.query = from.query;
  out.parameters = from.parameters;
  out.fields.assign(from.fields.begin(), from.fields.end());
  out.body = from.body.substr(0, 64 * 1024);
  out.at = std::chrono::steady_clock::now();
  return out;
}

/// gzip, as Google gives who asks for it by both headers.
std::string packed(const std::string& text) {
  z_stream state{};
  ::deflateInit2(&state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(::deflateBound(&state, static_cast<uLong>(text.size())) + 32, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  ::deflate(&state, Z_FINISH);
  out.resize(state.total_out);
  ::deflateEnd(&state);
  return out;
}

bool fits(const fault& one, const asked& from) {
  const auto& begin = one.path.empty() ? std::string("/drive/") : one.path;
  return (one.method.empty() || one.method == from.method) && from.path.starts_with(begin) &&
         (one.containing.empty() || from.query.find(one.containing) != std::string::npos);
}

}  // namespace

struct stand_in::inner {
  inner(stand_in& of, const setup& how) : owner(of), in(how) {
    in.files.on_change = [this](const change& one) { tell(one); };
    in.on_channel = [this](channel& on, const std::string& state) { notify(on, state); };
    const std::lock_guard lock(mutex);
    listening = std::make_unique<hondana_test::scripted_server>(
        [this](const heard_request& to, scripted_connection& by) { return serve(to, by); });
    port = listening->port();
    in.origin = "http://127.0.0.1:" + std::to_string(port);
  }
  ~inner() {
    std::unique_ptr<hondana_test::scripted_server> ends;
    {
      const std::lock_guard lock(mutex);
      is_stopping = true;
      ends = std::move(listening);
    }
    changed.notify_all();
  }

  bool serve(const heard_request& to, scripted_connection& by);
  bool send(const answer& with, const fault& how, const asked& to, scripted_connection& by);
  bool send_body(const std::string& body, const fault& how, bool is_chunked, scripted_connection& by);
  /// False when it stops meanwhile.
  bool waits(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex);
    return !changed.wait_for(lock, time, [this] { return is_stopping; });
  }
  fault next_fault(const asked& to);
  void tell(const change& one);
  void notify(channel& on, const std::string& state);

  stand_in& owner;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  bool is_stopping = false;
  std::size_t healed = 0;
  world in;
  std::list<fault> faults;
  std::vector<logged> log;
  courier letters;
  std::uint16_t port = 0;
  std::unique_ptr<hondana_test::scripted_server> listening;
};

fault stand_in::inner::next_fault(const asked& to) {
  for (auto one = faults.begin(); one != faults.end(); ++one) {
    if (!fits(*one, to)) continue;
    if (one->skip > 0) {
      --one->skip;
      continue;
    }
    const auto out = *one;
    if (one->times != SIZE_MAX && --one->times == 0) faults.erase(one);
    return out;
  }
  return {};
}

bool stand_in::inner::serve(const heard_request& to, scripted_connection& by) {
  const auto from = asked_in(to);
  fault how;
  answer with;
  {
    const std::lock_guard lock(mutex);
    if (listening) listening->forget();
  }
  if (from.path.starts_with("/_control/")) return send(control(owner, from), {}, from, by);
  {
    const std::lock_guard lock(mutex);
    auto entry = entry_of(from);
    how = next_fault(from);
    if (how.is_closed) {
      entry.status = 0;
    } else if (how.status != 0) {
      with = error_of(how.status, how.reason.empty() ? usual_reason(how.status) : how.reason, {}, how.message);
      if (!how.body.empty()) {
        with.body = how.body;
        with.type = how.body_type.empty() ? with.type : how.body_type;
      }
      if (!how.retry_after.empty()) with.more_fields += "Retry-After: " + how.retry_after + "\r\n";
      if (!how.location.empty()) with.more_fields += "Location: " + how.location + "\r\n";
    } else {
      with = answer_to(from, in, entry.caller);
    }
    if (!how.is_closed) entry.status = with.status;
    log.push_back(std::move(entry));
    changed.notify_all();
  }
  if (how.is_closed) {
    by.vanish();
    return false;
  }
  return send(with, how, from, by);
}

bool stand_in::inner::send(const answer& with, const fault& how, const asked& to, scripted_connection& by) {
  if (how.delay.count() > 0 && !waits(how.delay)) return false;
  auto body = with.body;
  std::string head = "HTTP/1.1 " + std::to_string(with.status) + (with.status < 400 ? " OK" : " Error") + "\r\n";
  const bool is_json = with.type.starts_with("application/json");
  const bool wants_gzip =
      to.field("accept-encoding").find("gzip") != std::string::npos && to.field("user-agent").find("gzip") != std::string::npos;
  if (!with.type.empty()) head += "Content-Type: " + with.type + "\r\n";
  head += with.more_fields + "Vary: Origin\r\nVary: X-Origin\r\nDate: " + http_date(now_ms()) + "\r\nServer: ESF\r\n";
  if (is_json && wants_gzip && !body.empty()) {
    body = packed(body);
    head += "Content-Encoding: gzip\r\n";
  }
  const bool is_chunked = with.is_chunked && how.wrong_length == 0;
  if (is_chunked)
    head += "Transfer-Encoding: chunked\r\n";
  else if (with.status != 204)
    head += "Content-Length: " + std::to_string(static_cast<std::ptrdiff_t>(body.size()) + how.wrong_length) + "\r\n";
  if (!by.send(head + "\r\n")) return false;
  return send_body(body, how, is_chunked, by) && how.wrong_length == 0;
}

bool stand_in::inner::send_body(const std::string& body, const fault& how, bool is_chunked, scripted_connection& by) {
  const auto end = std::min({body.size(), how.stalls_at, how.cut_at});
  const std::size_t piece = how.a_chunk.count() > 0 ? 1024 : 256 * 1024;
  for (std::size_t at = 0; at < end; at += piece) {
    if (at > 0 && how.a_chunk.count() > 0 && !waits(how.a_chunk)) return false;
    const auto part = body.substr(at, std::min(piece, end - at));
    std::string framed = part;
    if (is_chunked) {
      char size[32];
      std::snprintf(size, sizeof size, "%zx\r\n", part.size());
      framed = size + part + "\r\n";
    }
    if (!by.send(framed)) return false;
  }
  if (how.cut_at < body.size()) return false;
  if (how.stalls_at < body.size()) {
    std::unique_lock lock(mutex);
    const auto before = healed;
    changed.wait(lock, [&] { return is_stopping || healed != before; });
    return false;
  }
  return !is_chunked || by.send("0\r\n\r\n");
}

void stand_in::inner::tell(const change& one) {
  const auto now = now_ms();
  std::erase_if(in.channels, [&](const auto& each) { return each.second.expires <= now; });
  for (auto& [id, on] : in.channels) {
    if (on.log == one.log && one.seen_by.contains(on.user)) notify(on, "change");
  }
}

void stand_in::inner::notify(channel& on, const std::string& state) {
  ++on.messages;
  const auto to = in.how.notices_to != 0 ? in.how.notices_to : loopback_port(on.address);
  letters.send(to, notice(on, state));
}

stand_in::stand_in(setup how) : inner_(std::make_unique<inner>(*this, how)) {}
stand_in::~stand_in() = default;

std::uint16_t stand_in::port() const noexcept { return inner_->port; }
std::string stand_in::url(std::string_view path) const { return inner_->in.origin + std::string(path); }

std::string stand_in::service_account() const {
  const auto& key = account_key::get();
  const std::lock_guard lock(inner_->mutex);
  return boost::json::serialize(boost::json::object{{"type", "service_account"},
                                                    {"project_id", "stand-in"},
                                                    {"private_key_id", key.id()},
                                                    {"private_key", key.pem()},
                                                    {"client_email", inner_->in.how.service_account},
                                                    {"client_id", "112233445566778899001"},
                                                    {"auth_uri", url("/o/oauth2/v2/auth")},
                                                    {"token_uri", url("/token")},
                                                    {"universe_domain", "googleapis.com"}});
}

std::string stand_in::access_token(const std::string& whom, const std::string& scope) {
  const std::lock_guard lock(inner_->mutex);
  auto token = "ya29.c." + made_up(96);
  inner_->in.access[token] = {whom, scopes_of(scope), 0};
  return token;
}

std::string stand_in::refresh_token(const std::string& whom, const std::string& scope) {
  const std::lock_guard lock(inner_->mutex);
  auto token = "1//0" + made_up(80);
  inner_->in.refresh[token] = {whom, scopes_of(scope), 0};
  return token;
}

void stand_in::revoke(const std::string& whom, bool refresh) {
  const std::lock_guard lock(inner_->mutex);
  const auto is_of = [&](const auto& one) { return whom.empty() || one.second.whom == whom; };
  std::erase_if(inner_->in.access, is_of);
  if (refresh) std::erase_if(inner_->in.refresh, is_of);
}

std::string stand_in::add(file one) {
  const std::lock_guard lock(inner_->mutex);
  return inner_->in.files.add(std::move(one));
}

std::string stand_in::add(shared_drive one) {
  const std::lock_guard lock(inner_->mutex);
  return inner_->in.files.add(std::move(one));
}

std::string stand_in::folder(std::string_view path, const std::string& drive) {
  const std::lock_guard lock(inner_->mutex);
  return inner_->in.files.folder(path, drive);
}

void stand_in::edit(const std::string& id, const std::function<void(file&)>& change) {
  const std::lock_guard lock(inner_->mutex);
  inner_->in.files.edit(id, change);
}

void stand_in::trash(const std::string& id, bool is_trashed) {
  const std::lock_guard lock(inner_->mutex);
  inner_->in.files.trash(id, is_trashed);
}

void stand_in::remove(const std::string& id) {
  const std::lock_guard lock(inner_->mutex);
  inner_->in.files.remove(id);
}

void stand_in::remove_drive(const std::string& id) {
  const std::lock_guard lock(inner_->mutex);
  inner_->in.files.remove_drive(id);
}

void stand_in::share(const std::string& id, const permission& with) {
  const std::lock_guard lock(inner_->mutex);
  inner_->in.files.share(id, with);
}

void stand_in::unshare(const std::string& id, const std::string& whom) {
  const std::lock_guard lock(inner_->mutex);
  inner_->in.files.unshare(id, whom);
}

void stand_in::join(const std::string& drive, const permission& who) {
  const std::lock_guard lock(inner_->mutex);
  inner_->in.files.join(drive, who);
}

void stand_in::leave(const std::string& drive, const std::string& whom) {
  const std::lock_guard lock(inner_->mutex);
  inner_->in.files.leave(drive, whom);
}

file stand_in::held(const std::string& id) const {
  const std::lock_guard lock(inner_->mutex);
  const auto* const one = inner_->in.files.find(id);
  if (one == nullptr) throw std::runtime_error("there is no file " + id);
  return one->is;
}

std::vector<std::string> stand_in::ids() const {
  const std::lock_guard lock(inner_->mutex);
  std::vector<std::string> out;
  for (const auto& [id, one] : inner_->in.files.files()) {
    if (!one.is_root) out.push_back(id);
  }
  return out;
}

std::string stand_in::content(const std::string& id, std::string_view exported_as) const {
  const auto one = held(id);
  return exported_as.empty() ? one.bytes : exported(one, exported_as).value_or("");
}

std::int64_t stand_in::version(const std::string& id) const {
  const std::lock_guard lock(inner_->mutex);
  const auto* const one = inner_->in.files.find(id);
  return one == nullptr ? 0 : one->version;
}

void stand_in::fail(const fault& how) {
  const std::lock_guard lock(inner_->mutex);
  inner_->faults.push_back(how);
}

void stand_in::heal() {
  {
    const std::lock_guard lock(inner_->mutex);
    inner_->faults.clear();
    ++inner_->healed;
  }
  inner_->changed.notify_all();
}

void stand_in::expire_page_tokens(int status, bool those_of_changes, bool those_of_lists) {
  const std::lock_guard lock(inner_->mutex);
  auto& in = inner_->in;
  if (those_of_changes) {
    in.files.skip_numbers();
    in.first_change = in.files.next_change();
    in.expired_with = status;
  }
  if (those_of_lists) {
    for (auto& [token, page] : in.pages) page.expired_with = status;
  }
}

void stand_in::configure(const std::function<void(setup&)>& change) {
  const std::lock_guard lock(inner_->mutex);
  change(inner_->in.how);
}

std::vector<logged> stand_in::requests() const { return requests(""); }

std::vector<logged> stand_in::requests(std::string_view path) const {
  const std::lock_guard lock(inner_->mutex);
  std::vector<logged> out;
  for (const auto& one : inner_->log) {
    if (one.path.starts_with(path)) out.push_back(one);
  }
  return out;
}

bool stand_in::wait_for_requests(std::string_view path, std::size_t count) const {
  std::unique_lock lock(inner_->mutex);
  return inner_->changed.wait_for(lock, hondana_test::event_deadline, [&] {
    return static_cast<std::size_t>(std::count_if(inner_->log.begin(), inner_->log.end(),
                                                  [&](const logged& one) { return one.path.starts_with(path); })) >= count;
  });
}

void stand_in::forget() {
  const std::lock_guard lock(inner_->mutex);
  inner_->log.clear();
}

std::size_t stand_in::channels() const {
  const std::lock_guard lock(inner_->mutex);
  return inner_->in.channels.size();
}

std::size_t stand_in::notices() const { return inner_->letters.delivered(); }

void stand_in::seed(std::string_view json) { plant(*this, json); }

}  // namespace drive_test
