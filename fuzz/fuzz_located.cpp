/// Configuration of all formats: whatever the bytes, a tree within its limits whose places are in the text, that is JSON and
/// stays so when its secrets are masked, or an error with a reason.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <hondana/value.hpp>

#include "text/located/format.hpp"
#include "text/located/masking.hpp"
#include "text/located/node.hpp"

namespace {

using namespace hondana;

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr located::parse_limits most{.max_bytes = 256 * 1024, .max_depth = 24, .max_values = 4000};

void expect_place(const located::source_range& at, std::string_view text) {
  require(at.begin <= at.end && at.end <= text.size());
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at.begin), '\n');
  require(at.line == static_cast<std::uint32_t>(lines) + 1);
}

std::size_t expect_sound(const located::node& what, std::string_view text, std::size_t depth) {
  require(depth <= most.max_depth);
  expect_place(what.range, text);
  std::size_t count = 1;
  for (const auto& item : what.items) count += expect_sound(item, text, depth + 1);
  std::unordered_set<std::string_view> keys;
  for (const auto& one : what.members) {
    require(keys.insert(one.key).second);
    expect_place(one.key_range, text);
    count += expect_sound(one.value, text, depth + 1);
  }
  return count;
}

/// Whether a number is an integer that the reader of values does not take: one of more than 64 bits.
bool is_beyond_values(const located::node& what) {
  if (what.kind == located::node_kind::integer && what.text.size() > 18) return true;
  return std::any_of(what.items.begin(), what.items.end(), is_beyond_values) ||
         std::any_of(what.members.begin(), what.members.end(),
                     [](const located::member& one) { return is_beyond_values(one.value); });
}

void expect_json(const located::document& of) {
  const auto parsed = value::parse(located::json_text(of.root));
  if (is_beyond_values(of.root)) return;
  require(parsed.has_value());
  require(*parsed == located::json_of(of.root));
}

}  // namespace

/// The input: a byte that says which format, the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array formats{
      located::config_format::toml,    located::config_format::yaml,         located::config_format::json,
      located::config_format::ini,     located::config_format::dotenv,       located::config_format::properties,
      located::config_format::systemd, located::config_format::gitconfig,    located::config_format::editorconfig,
      located::config_format::desktop, located::config_format::configparser, located::config_format::compose_env};
  if (size == 0) return 0;
  const auto how = formats[data[0] % formats.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto read = located::read(how, text, most);
  if (!read) {
    const auto code = read.error().code;
    require(code == errc::invalid_argument || code == errc::response_too_large);
    require(!read.error().public_text.empty());
    return 0;
  }
  // A list of documents is counted with the others, and no more.
  require(expect_sound(read->root, text, 0) <= most.max_values + 1);
  expect_json(*read);
  std::vector<secrets::span> in_text;
  const auto before = located::json_text(read->root);
  const auto count = located::mask_secrets(*read, text, in_text);
  require(count != 0 || located::json_text(read->root) == before);
  expect_sound(read->root, text, 0);
  expect_json(*read);
  for (std::size_t i = 0; i < in_text.size(); ++i) {
    require(in_text[i].begin < in_text[i].end && in_text[i].end <= text.size());
    require(i == 0 || in_text[i - 1].end < in_text[i].begin);
  }
  return 0;
}
