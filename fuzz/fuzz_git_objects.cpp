/// Fuzzes what git objects of others say: commits, tags, names, messages and texts in any encoding. No crash, texts that lie in
/// the bytes, and UTF-8 for whoever reads them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "base/json/utf8.hpp"
#include "sources/git/object_parser.hpp"
#include "sources/git/text_encoding.hpp"
#include "sources/git/text_escaping.hpp"

namespace {

using namespace hondana::git;

void require(bool holds) {
  if (!holds) std::abort();
}

bool lies_in(std::string_view part, std::string_view whole) {
  const std::less_equal<const char*> is_before;
  return part.empty() ||
         (is_before(whole.data(), part.data()) && is_before(part.data() + part.size(), whole.data() + whole.size()));
}

void require_text(const converted_text& of) { require(hondana::json::is_utf8(of.text) && hondana::json::is_utf8(of.encoding)); }

void look_at_identity(std::string_view line) {
  const auto who = parse_identity(line);
  require(lies_in(who.name, line) && lies_in(who.email, line) && lies_in(who.name_and_email, line));
  constexpr int farthest = 99 * 60 + 99;  // +9999, as git takes it
  require(who.time >= 0 && who.offset >= -farthest && who.offset <= farthest);
}

void look_at_message(std::string_view message) {
  const auto parts = parse_message(message);
  require(lies_in(parts.subject, message) && lies_in(parts.body, message));
  require(parts.subject.size() + parts.body.size() <= message.size());
  const auto joined = join_subject(parts.subject);
  require(joined.size() <= parts.subject.size() && joined.find('\n') == std::string::npos);
}

void look_at_commit(std::string_view bytes) {
  const auto commit = parse_commit(bytes);
  if (!commit) return;
  require(commit->parents.size() <= bytes.size() / GIT_OID_HEXSZ && commit->time <= max_time);
  for (const auto part : {commit->author, commit->committer, commit->encoding, commit->message}) require(lies_in(part, bytes));
  require(commit->message.find('\0') == std::string_view::npos);
  look_at_identity(commit->author);
  look_at_identity(commit->committer);
  look_at_message(commit->message);
  require_text(to_utf8(commit->message, commit->encoding));
  // The same again from a commit that is written as git would.
  std::string written = "tree " + to_hex(commit->tree) + '\n';
  for (const auto& parent : commit->parents) written += "parent " + to_hex(parent) + '\n';
  written += '\n' + std::string(commit->message);
  const auto again = parse_commit(written);
  require(again && again->parents.size() == commit->parents.size() && again->message == commit->message);
}

void look_at_tag(std::string_view bytes) {
  const auto tag = parse_tag(bytes);
  if (!tag) return;
  require(lies_in(tag->tagger, bytes) && lies_in(tag->message, bytes));
  look_at_identity(tag->tagger);
}

void look_at_text(std::string_view bytes) {
  require_text(to_utf8(bytes));
  // The first line as the name of an encoding for the rest.
  const auto name = bytes.substr(0, bytes.find('\n'));
  require_text(to_utf8(bytes.substr(name.size()), name));
  if (const auto known = canonical_encoding(name); !known.empty()) require(canonical_encoding(known) == known);
  require(hondana::json::is_utf8(decode_windows_1252(bytes)));
  if (const auto text = decode_file(bytes)) require_text(*text);
  require(hondana::json::is_utf8(display_path(bytes)));
  const auto line = escape_markdown(bytes), block = code_block(bytes);
  require(hondana::json::is_utf8(line) && line.find('\n') == std::string::npos);
  require(hondana::json::is_utf8(block) && block.starts_with("```") && block.ends_with("```\n"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  look_at_commit(bytes);
  look_at_tag(bytes);
  look_at_identity(bytes);
  look_at_message(bytes);
  look_at_text(bytes);
  return 0;
}
