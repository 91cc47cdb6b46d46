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

constexpr std::size_t max_message_bytes = 1u << 20;
constexpr std::size_t max_text_bytes = 64u << 10;
// Tell the transcript player to add no messages or metadata of its own.
constexpr const char* header_lines = "# open: none\n# meta: as written\n";

std::string size_comment(const std::string& pointer, std::uint64_t size, const std::string& digest) {
  return "# " + sanitize(pointer) + ": " + std::to_string(size) + " bytes, " + digest + '\n';
}

/// A comment with size and digest of a text; for a blob, those of the decoded bytes.
std::string text_comment(const std::string& pointer, const std::string& text) {
  bytes::sha256 digest;
  const auto decoded = pointer.ends_with("/blob") ? json::decode_base64(text) : std::nullopt;
  const std::string& hashed = decoded ? *decoded : text;
  digest.update(hashed);
  return size_comment(pointer, hashed.size(), digest.finish());
}

/// A copy with long texts replaced by "*"; `comments` gets a comment for each. The recursion is limited by the depth limit of
/// the JSON parser.
value shorten_texts(const value& input, const std::string& pointer, std::string& comments) {
  if (const auto* text = input.as_string(); text != nullptr && text->size() > max_text_bytes) {
    comments += text_comment(pointer, *text);
    return "*";
  }
  if (const auto* elements = input.as_array()) {
    value::array out;
    for (const auto& element : *elements)
      out.push_back(shorten_texts(element, pointer + '/' + std::to_string(out.size()), comments));
    return out;
  }
  if (const auto* members = input.as_object()) {
    value::object out;
    for (const auto& [name, member] : *members) out.emplace_back(name, shorten_texts(member, pointer + '/' + name, comments));
    return out;
  }
  return input;
}

/// A copy with another value for one member. Returns values that are not objects unchanged.
value replace_member(const value& object, std::string_view name, value replacement) {
  if (object.as_object() == nullptr) return object;
  auto members = *object.as_object();
  const auto match = std::find_if(members.begin(), members.end(), [name](const auto& member) { return member.first == name; });
  if (match != members.end()) match->second = std::move(replacement);
  return members;
}

}  // namespace

result<std::shared_ptr<trace_file>> trace_file::open(const std::string& path) {
  const bool is_stderr = path == "-";
  disk::handle file(is_stderr ? ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)
                              : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  const auto make_error = [&path](std::string_view action) {
    return fail(errc::invalid_argument, "The trace " + std::string(action) + path + ": " + std::strerror(errno) + ".");
  };
  if (!file.is_open()) return make_error("cannot be written to ");
  struct stat attributes{};
  // An existing file may be readable by others.
  if (!is_stderr && ::fstat(file.get(), &attributes) == 0 && S_ISREG(attributes.st_mode) && ::fchmod(file.get(), 0600) != 0)
    return make_error("cannot be made private in ");
  std::shared_ptr<trace_file> trace(new trace_file(std::move(file)));
  const std::lock_guard lock(trace->mutex_);
  trace->write_all(header_lines);
  return trace;
}

void trace_file::write(message_direction direction, std::string_view message) {
  const bool is_outgoing = direction == message_direction::to_server;
  std::string text(message);
  // JSON strings cannot contain newlines, and outside strings a space means the same.
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  while (text.ends_with(' ')) text.pop_back();
  std::string comments;
  const std::lock_guard lock(mutex_);
  if (!is_outgoing && (!stored_.empty() || is_incomplete_ || text.size() > max_message_bytes)) {
    // Text that is not JSON stays as it is.
    if (const auto parsed = value::parse(text, {.max_bytes = text.size(), .max_values = text.size()})) {
      const auto full_message = complete_message(*parsed, comments);
      text = full_message.to_text();
      if (text.size() > max_message_bytes) text = shorten_texts(full_message, {}, comments).to_text();
    }
  }
  write_all(comments + (is_outgoing ? "-> " : "<- ") + text + '\n');
}

void trace_file::store_content(std::size_t index, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  auto& content = stored_[index];
  content.size += bytes.size();
  content.digest.update(bytes);
  const auto space_left = std::min(bytes.size(), max_message_bytes - stored_bytes_);
  content.bytes += bytes.substr(0, space_left);
  stored_bytes_ += space_left;
}

void trace_file::discard_content() {
  const std::lock_guard lock(mutex_);
  std::string comments;
  for (auto& [index, content] : stored_)
    comments +=
        size_comment("content outside of messages, item " + std::to_string(index), content.size, content.digest.finish());
  is_incomplete_ = is_incomplete_ || !stored_.empty();
  stored_.clear();
  stored_bytes_ = 0;
  write_all(comments);
}

value trace_file::complete_message(const value& message, std::string& comments) {
  const auto* result = message.find("result");
  const auto* contents = result == nullptr ? nullptr : result->find("contents");
  const auto* items = contents == nullptr ? nullptr : contents->as_array();
  if (items == nullptr) return message;
  auto out = *items;
  for (std::size_t index = 0; index < out.size(); ++index) {
    const bool is_text = out[index].find("text") != nullptr;
    const std::string_view member = is_text ? "text" : "blob";
    const auto pointer = "/result/contents/" + std::to_string(index) + '/' + std::string(member);
    const auto match = stored_.find(index);
    if (match == stored_.end()) {
      if (!is_incomplete_ || !out[index].string_at(member).value_or("*").empty()) continue;
      comments += "# " + pointer + ": not read to its end\n";
      out[index] = replace_member(out[index], member, "*");
      continue;
    }
    auto& content = match->second;
    std::string text = "*";
    if (content.size > content.bytes.size()) {
      comments += size_comment(pointer, content.size, content.digest.finish());
    } else if (is_text) {
      text = std::move(content.bytes);
    } else {
      text.clear();
      json::append_base64(text, content.bytes);
    }
    out[index] = replace_member(out[index], member, std::move(text));
  }
  stored_.clear();
  stored_bytes_ = 0;
  is_incomplete_ = false;
  return replace_member(message, "result", replace_member(*result, "contents", std::move(out)));
}

void trace_file::write_all(std::string_view text) {
  while (!text.empty() && !has_failed_) {
    const auto count = ::write(file_.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      // A full disk ends the trace, not the command.
      has_failed_ = true;
      print_message(std::string("the trace ends here, because it cannot be written: ") + std::strerror(errno));
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace hondana::cli
