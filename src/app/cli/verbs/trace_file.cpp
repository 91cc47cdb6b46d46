/// Records the messages of a connection in a file, in the format of the test transcripts.
#include "app/cli/verbs/trace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <hondana/value.hpp>

#include "app/cli/output.hpp"
#include "base/json/base64.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t most_whole = 1u << 20;
constexpr std::size_t longest_text = 64u << 10;
// Tell the transcript player to add no messages or metadata of its own.
constexpr const char* first_lines = "# open: none\n# meta: as written\n";

std::string remark(const std::string& place, std::uint64_t size, const std::string& digest) {
  return "# " + visible(place) + ": " + std::to_string(size) + " bytes, " + digest + '\n';
}

/// A comment with size and digest of a text; for a blob, those of the decoded bytes.
std::string remark_of(const std::string& place, const std::string& text) {
  bytes::sha256 digest;
  const auto decoded = place.ends_with("/blob") ? json::decode_base64(text) : std::nullopt;
  const std::string& meant = decoded ? *decoded : text;
  digest.feed(meant);
  return remark(place, meant.size(), digest.finish());
}

/// A copy with long texts replaced by "*"; `remarks` gets a comment for each. The recursion is limited by the depth limit of
/// the JSON parser.
value shortened(const value& from, const std::string& place, std::string& remarks) {
  if (const auto* text = from.as_string(); text != nullptr && text->size() > longest_text) {
    remarks += remark_of(place, *text);
    return "*";
  }
  if (const auto* elements = from.as_array()) {
    value::array out;
    for (const auto& one : *elements) out.push_back(shortened(one, place + '/' + std::to_string(out.size()), remarks));
    return out;
  }
  if (const auto* members = from.as_object()) {
    value::object out;
    for (const auto& [name, one] : *members) out.emplace_back(name, shortened(one, place + '/' + name, remarks));
    return out;
  }
  return from;
}

/// A copy with another value for one member. Returns values that are not objects unchanged.
value with_member(const value& object, std::string_view name, value instead) {
  if (object.as_object() == nullptr) return object;
  auto members = *object.as_object();
  const auto found = std::find_if(members.begin(), members.end(), [name](const auto& one) { return one.first == name; });
  if (found != members.end()) found->second = std::move(instead);
  return members;
}

}  // namespace

result<std::shared_ptr<trace_file>> trace_file::open(const std::string& path) {
  const bool is_errors = path == "-";
  disk::handle file(is_errors ? ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
                              : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  const auto why = [&path](std::string_view what) {
    return fail(errc::invalid_argument, "The trace " + std::string(what) + path + ": " + std::strerror(errno) + ".");
  };
  if (!file.is_open()) return why("cannot be written to ");
  struct stat known{};
  // An existing file may be readable by others.
  if (!is_errors && ::fstat(file.get(), &known) == 0 && S_ISREG(known.st_mode) && ::fchmod(file.get(), 0600) != 0)
    return why("cannot be made private in ");
  std::shared_ptr<trace_file> made(new trace_file(std::move(file)));
  const std::lock_guard lock(made->mutex_);
  made->write_all(first_lines);
  return made;
}

void trace_file::write(message_direction way, std::string_view message) {
  const bool is_ours = way == message_direction::to_server;
  std::string text(message);
  // JSON strings cannot contain newlines, and outside strings a space means the same.
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  while (text.ends_with(' ')) text.pop_back();
  std::string remarks;
  const std::lock_guard lock(mutex_);
  if (!is_ours && (!kept_.empty() || was_cut_ || text.size() > most_whole)) {
    // Text that is not JSON stays as it is.
    if (const auto parsed = value::parse(text, {.bytes = text.size(), .values = text.size()})) {
      const auto whole = completed(*parsed, remarks);
      text = whole.to_text();
      if (text.size() > most_whole) text = shortened(whole, {}, remarks).to_text();
    }
  }
  write_all(remarks + (is_ours ? "-> " : "<- ") + text + '\n');
}

void trace_file::keep(std::size_t item, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  auto& into = kept_[item];
  into.size += bytes.size();
  into.digest.feed(bytes);
  const auto room = std::min(bytes.size(), most_whole - kept_bytes_);
  into.bytes += bytes.substr(0, room);
  kept_bytes_ += room;
}

void trace_file::forget() {
  const std::lock_guard lock(mutex_);
  std::string remarks;
  for (auto& [item, one] : kept_)
    remarks += remark("content outside of messages, item " + std::to_string(item), one.size, one.digest.finish());
  was_cut_ = was_cut_ || !kept_.empty();
  kept_.clear();
  kept_bytes_ = 0;
  write_all(remarks);
}

value trace_file::completed(const value& message, std::string& remarks) {
  const auto* result = message.find("result");
  const auto* contents = result == nullptr ? nullptr : result->find("contents");
  const auto* items = contents == nullptr ? nullptr : contents->as_array();
  if (items == nullptr) return message;
  auto out = *items;
  for (std::size_t at = 0; at < out.size(); ++at) {
    const bool is_text = out[at].find("text") != nullptr;
    const std::string_view member = is_text ? "text" : "blob";
    const auto place = "/result/contents/" + std::to_string(at) + '/' + std::string(member);
    const auto found = kept_.find(at);
    if (found == kept_.end()) {
      if (!was_cut_ || !out[at].string_at(member).value_or("*").empty()) continue;
      remarks += "# " + place + ": not read to its end\n";
      out[at] = with_member(out[at], member, "*");
      continue;
    }
    auto& one = found->second;
    std::string text = "*";
    if (one.size > one.bytes.size()) {
      remarks += remark(place, one.size, one.digest.finish());
    } else if (is_text) {
      text = std::move(one.bytes);
    } else {
      text.clear();
      json::append_base64(text, one.bytes);
    }
    out[at] = with_member(out[at], member, std::move(text));
  }
  kept_.clear();
  kept_bytes_ = 0;
  was_cut_ = false;
  return with_member(message, "result", with_member(*result, "contents", std::move(out)));
}

void trace_file::write_all(std::string_view text) {
  while (!text.empty() && !has_failed_) {
    const auto count = ::write(file_.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      // A full disk ends the trace, not the command.
      has_failed_ = true;
      say(std::string("the trace ends here, because it cannot be written: ") + std::strerror(errno));
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace hondana::cli
