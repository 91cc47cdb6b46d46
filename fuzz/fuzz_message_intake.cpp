/// A message in any pieces: the same result, content and id as whole, and what the JSON reader and whole decoding make of it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/base64.hpp"
#include "base/json/reader.hpp"
#include "base/json/utf8.hpp"
#include "base/json/writer.hpp"
#include "protocol/channel/message_reader.hpp"

namespace {

namespace json = hondana::json;
using hondana::channel::message_reader;

void require(bool holds) {
  if (!holds) std::abort();
}

struct taken {
  std::optional<std::string> kept;  // nothing: it failed
  std::optional<hondana::errc> why;
  std::map<std::size_t, std::string> contents;
  std::optional<std::string> id;
  friend bool operator==(const taken&, const taken&) = default;
};

taken take(std::string_view text, std::string_view cuts, bool with_sink, const hondana::channel::limits& most) {
  taken out;
  hondana::channel::content_sink sink;
  if (with_sink) {
    sink = [&out](std::size_t item, std::string_view bytes) -> hondana::result<void> {
      require(!bytes.empty());
      out.contents[item] += bytes;
      return {};
    };
  }
  message_reader intake(most, sink);
  for (std::size_t i = 0; !text.empty(); ++i) {
    const std::size_t size = cuts.empty() ? text.size() : 1 + static_cast<unsigned char>(cuts[i % cuts.size()]) % 41;
    const std::string piece(text.substr(0, size));  // of its own, so that reading beyond it is seen
    const bool good = intake.feed(piece).has_value();
    if (!good) out.why = intake.feed({}).error().code;
    text.remove_prefix(piece.size());
  }
  auto whole = intake.finish();
  require(!out.why || (!whole && whole.error().code == *out.why));
  if (whole) {
    out.kept = std::move(*whole);
  } else {
    require(!whole.error().public_text.empty());
    out.why = whole.error().code;
  }
  out.id = intake.id();
  return out;
}

/// What a message must become: its contents decoded, and whether they can be.
struct oracle {
  std::map<std::size_t, std::string> contents;
  bool are_good = true;
  std::optional<std::size_t> begun;

  std::string rewrite(const json::value& from, int depth = 0, bool on_way = true, std::size_t item = 0) {
    std::string out;
    json::writer to(out);
    if (const auto object = from.as_object("")) {
      to.begin_object();
      for (const auto& [name, member] : object->members()) {
        to.key(name);
        const bool is_step = (depth == 0 && name == "result") || (depth == 1 && name == "contents") || depth == 3;
        if (on_way && depth == 3 && (name == "text" || name == "blob") && member.type() == json::kind::string) {
          add(item, *member.as_string(""), name == "blob");
          to.string("");
        } else {
          to.raw(rewrite(member, depth + 1, on_way && is_step && depth != 3, item));
        }
      }
      to.end_object();
      return out;
    }
    if (const auto array = from.as_array("")) {
      to.begin_array();
      std::size_t index = 0;
      for (const auto& one : array->elements()) to.raw(rewrite(one, depth + 1, on_way && depth == 2, index++));
      to.end_array();
      return out;
    }
    return from.to_json();
  }

  void add(std::size_t item, std::string_view string, bool is_blob) {
    if (!are_good) return;
    if (begun == item) {
      are_good = false;
      return;
    }
    begun = item;
    if (!is_blob) {
      if (!string.empty()) contents[item] += string;
      return;
    }
    const auto bytes = json::decode_base64(string);
    if (!bytes) {
      are_good = false;
      return;
    }
    if (!bytes->empty()) contents[item] += *bytes;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The first bytes say how the rest is cut, and whether limits are near.
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto cuts = input.substr(0, std::min<std::size_t>(4, input.size()));
  const auto text = input.substr(cuts.size());
  const hondana::channel::limits wide;

  const auto plain = take(text, {}, false, wide);
  require(plain == take(text, cuts, false, wide) && plain.contents.empty());
  if (plain.kept) require(*plain.kept == text);
  const auto whole = take(text, {}, true, wide);
  auto cut = take(text, cuts, true, wide);
  if (!whole.kept) cut.contents = whole.contents;  // how much came before the failure is a matter of the pieces
  require(whole == cut);
  require(whole.id == plain.id || whole.why.has_value());

  if (cuts.size() == 4) {
    hondana::channel::limits near;
    near.max_message_bytes = static_cast<unsigned char>(cuts[2]);
    near.max_content_bytes = static_cast<unsigned char>(cuts[3]) % 64;
    const auto bounded = take(text, cuts, true, near);
    std::size_t given = 0;
    for (const auto& [item, bytes] : bounded.contents) given += bytes.size();
    require(given <= near.max_content_bytes && (!bounded.kept || bounded.kept->size() <= near.max_message_bytes));
    require(bounded.why != hondana::errc::response_too_large || bounded.id == plain.id);
  }

  const auto parsed = json::document::parse(text);
  if (!parsed) return 0;
  require(plain.kept.has_value());
  oracle expected;
  const auto rewritten = expected.rewrite(parsed->root());
  require(whole.kept.has_value() == expected.are_good);
  if (!whole.kept) return 0;
  require(whole.contents == expected.contents);
  const auto again = json::document::parse(*whole.kept);
  require(again.has_value() && again->root().to_json() == rewritten);
  return 0;
}
