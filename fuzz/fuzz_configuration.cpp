/// Keys, layers and their differences: a key, then two files of configuration, separated by NUL.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/value.hpp>

#include "sources/config_files/config_views.hpp"
#include "sources/config_files/key_path.hpp"
#include "sources/config_files/masked_values.hpp"
#include "sources/config_files/variable_layers.hpp"
#include "text/located/format.hpp"

namespace {

using namespace hondana;
using namespace hondana::config_files;

constexpr size_limit enough{16u << 20};

void require(bool holds) {
  if (!holds) std::abort();
}

std::string_view piece_of(std::string_view& rest) {
  const auto end = rest.find('\0');
  const auto piece = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return piece;
}

/// What is written is JSON, unless there was more of it than is wanted. Integers may have more bits than a `value` keeps.
void expect_json(const std::string& text) {
  require(text.size() > enough.max_bytes || value::parse(text).has_value() ||
          located::read(located::config_format::json, text).has_value());
}

void expect_key_to_read_again(std::string_view written) {
  const auto along = parse_key(written);
  if (!along) return;
  std::string again;
  for (const auto& one : *along) append_part(again, one.name);
  const auto second = parse_key(again);
  require(second.has_value() && second->size() == along->size());
  for (std::size_t i = 0; i < along->size(); ++i) require((*second)[i].name == (*along)[i].name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto key = piece_of(rest);
  expect_key_to_read_again(key);
  std::vector<layer_options> settings{
      {.name = "one"}, {.name = "two"}, {.name = "flags", .kind = layer_options::layer_kind::flags}};
  layer_states layers;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto text = piece_of(rest);
    auto read = located::read(i == 0 ? located::config_format::yaml : located::config_format::toml, text);
    layers.push_back({&settings[i], "file", read ? make_values(std::move(*read), text, true) : nullptr});
  }
  layers.push_back({&settings[2], {}, parse_flags({std::string(key), "--" + std::string(key) + "=x"}, true)});
  const auto all = merge_layers(layers);
  const auto along = parse_key(key);
  if (along) {
    const auto found = find_key(all, *along);
    expect_json(render_merged("set", layers, found, false, enough));
  }
  expect_json(render_merged("set", layers, find_key(all, {}), true, enough));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    expect_json(render_layer("set", layers, i, enough));
    expect_json(render_difference("set", layers, i, {}, enough));
    // Nothing differs from itself.
    const auto same = render_difference("set", layers, i, i, enough);
    require(same.find("\"changed\":[]") != std::string::npos && same.find("\"added\":[]") != std::string::npos);
  }
  return 0;
}
