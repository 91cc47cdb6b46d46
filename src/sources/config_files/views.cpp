/// Putting the views together.
#include "sources/config_files/views.hpp"

#include <utility>
#include <variant>

#include "base/bytes/prepare.hpp"
#include "base/bytes/sha256.hpp"
#include "sources/config_files/outline.hpp"
#include "sources/config_files/rendering.hpp"
#include "sources/config_files/sight.hpp"
#include "text/located/as_json.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::config_files {
namespace {

constexpr std::string_view made_type = "application/json";
constexpr std::string_view stale_key = "dev.hondana/stale";
constexpr std::string_view remarks_key = "dev.hondana/remarks";
constexpr std::size_t most_nearby = 1000;
constexpr std::size_t most_remarks = 10;

/// Of a text and of what is said besides.
std::string digest_of(std::string_view text, const metadata& facts = {}) {
  bytes::sha256 digest;
  digest.feed(text);
  for (const auto& [name, what] : facts) {
    const auto* said = std::get_if<std::string>(&what);
    digest.feed(std::string_view("\0", 1));
    digest.feed(name);
    digest.feed(std::string_view("\0", 1));
    if (said != nullptr) digest.feed(*said);
  }
  return digest.finish();
}

/// What is said besides the values.
metadata facts_of(const kept& from) {
  metadata facts;
  if (!from.stale.empty()) facts.emplace_back(stale_key, from.stale);
  std::string remarks;
  const auto& all = from.what->shown.remarks;
  for (std::size_t i = 0; i < std::min(all.size(), most_remarks); ++i) (remarks += i == 0 ? "" : "; ") += all[i];
  if (!remarks.empty()) facts.emplace_back(remarks_key, std::move(remarks));
  return facts;
}

given json_of(std::string text, std::string kind, std::string name) {
  auto version = digest_of(text);
  return {std::move(text), std::string(made_type), std::move(kind), std::move(name), std::move(version)};
}

/// Why a text is not given in which nothing can be found.
tl::unexpected<failure> not_masked(const std::string& path, const read_file& file) {
  const auto again = located::read(file.how, file.text.bytes);
  return fail(errc::source_unavailable, '"' + path + "\" is not UTF-8 or UTF-16 text, so secrets in it cannot be masked" +
                                            (again ? std::string(".") : ": " + again.error().public_text) + " Correct it.");
}

result<given> give_raw(file_set& from, std::string_view set, const std::string& path, const caller& who, bool redacts) {
  auto file = from.read(path);
  if (!file) return tl::unexpected(std::move(file.error()));
  HONDANA_TRY(may_read_behind(set, path, file->text.behind, who));
  given made{std::move(file->text.bytes), std::string(media_type_of(file->how)), "file", path, {}};
  made.is_racy = file->text.is_racy;
  if (redacts) {
    // What keys say of the values below them shows in the tree only.
    read_file whole{{made.text, file->text.state, file->text.is_racy, file->text.behind}, file->how, file->turn};
    const auto values = from.values_of(path, whole);
    auto masked = mask_text(made.text, values.get());
    if (!values) {
      const auto more = mask_values(made.text, file->how);
      if (!more) return not_masked(path, whole);
      masked += *more;
      if (*more > 0) {
        made.facts.emplace_back(remarks_key, "it cannot be read as " + std::string(located::name_of(file->how)) +
                                                 ", so everything that may be a value is masked");
      }
    }
    for (auto& one : secrets::facts_of(masked)) made.facts.push_back(std::move(one));
  }
  made.version = made.is_racy ? digest_of(made.text, made.facts) : disk::version_of(file->text.state);
  return made;
}

result<given> give_values(file_set& from, std::string_view set, const address& what, const caller& who) {
  HONDANA_TRY(auto said, from.values(what.path));
  HONDANA_TRY(may_read_behind(set, what.path, said.behind, who));
  const auto& root = said.what->shown.root;
  if (!what.key) {
    auto made = json_of(located::json_text(root), "file", what.path);
    made.facts = facts_of(said);
    made.version = digest_of(made.text, made.facts);
    return made;
  }
  HONDANA_TRY(const auto along, parse_key(*what.key));
  const auto found = seek(root, along);
  if (found.used < along.size()) {
    return no_such_key('"' + what.path + '"', along, found.key, found.used, names_in(*found.at, most_nearby));
  }
  auto made = json_of(render_value(*found.at, found.key, what.path, said.stale), "value", found.key);
  made.facts = facts_of(said);
  made.version = digest_of(made.text, made.facts);
  return made;
}

std::string layers_there_are(const file_set& from) {
  std::string all;
  for (const auto& one : from.layer_settings()) (all += all.empty() ? "" : ", ") += one.name;
  return all;
}

tl::unexpected<failure> no_pair_of_layers(const file_set& from) {
  return fail(errc::invalid_argument, "A diff needs two layers: diff/FROM..TO. The layers are " + layers_there_are(from) +
                                          ", and merged for all of them together.");
}

tl::unexpected<failure> no_such_layer(const file_set& from, std::string_view asked) {
  const auto all = layers_there_are(from);
  return fail(errc::part_not_found, "Unknown layer \"" + std::string(asked.substr(0, 100)) + "\". " +
                                        (all.empty() ? "The set has no layers." : "The layers are " + all + "."));
}

result<side> side_called(const file_set& from, std::string_view name) {
  if (name == merged_name) return side();
  const auto found = layer_called(from.layer_settings(), name);
  if (!found) return no_such_layer(from, name);
  return found;
}

result<given> give_merged(std::string_view set, const layer_states& layers, const address& what, budget within) {
  const auto all = merged(layers);
  HONDANA_TRY(const auto along, parse_key(what.key.value_or("")));
  const auto found = seek(all, along);
  if (found.used < along.size()) {
    return no_such_key("the merged configuration", along, found.key, found.used, names_in(found, most_nearby));
  }
  return json_of(render_merged(set, layers, found, !what.key, within), what.key ? "value" : "merged",
                 what.key ? found.key : "merged");
}

tl::unexpected<failure> may_not_use_layers() {
  return fail(errc::access_denied, "This is made of files that you may not read.");
}

result<given> give_of_layers(file_set& from, std::string_view set, const address& what, const caller& who, budget within) {
  if (from.layer_settings().empty()) return no_such_layer(from, what.layer);
  if (what.what == topic::diff && what.to.empty()) return no_pair_of_layers(from);
  std::optional<std::size_t> layer;
  side before;
  side after;
  // Names are looked up first, since they cost nothing.
  if (what.what == topic::layer) {
    layer = layer_called(from.layer_settings(), what.layer);
    if (!layer) return no_such_layer(from, what.layer);
  } else if (what.what == topic::diff) {
    HONDANA_TRY(const auto one, side_called(from, what.layer));
    HONDANA_TRY(const auto other, side_called(from, what.to));
    before = one;
    after = other;
  }
  HONDANA_TRY(const auto layers, from.layers());
  if (!may_use(layers, set, who)) return may_not_use_layers();
  if (layer) return json_of(render_layer(set, layers, *layer, within), "layer", "layer " + what.layer);
  if (what.what == topic::diff) {
    return json_of(render_difference(set, layers, before, after, within), "diff", what.layer + ".." + what.to);
  }
  return give_merged(set, layers, what, within);
}

}  // namespace

tl::unexpected<failure> no_such_key(std::string_view where, const key_path& asked, std::string_view found, std::size_t used,
                                    std::vector<std::string> names) {
  std::string text = "Unknown key in " + std::string(where) + ": ";
  text += found.empty() ? "at the top level" : "below " + std::string(found);
  const auto near = nearest(asked[used].name, std::move(names));
  if (near.empty()) {
    text += " there are no keys.";
  } else {
    text += " the nearest keys are ";
    for (std::size_t i = 0; i < near.size(); ++i) {
      std::string whole(found);
      append_part(whole, near[i]);
      (text += i == 0 ? "" : ", ") += whole;
    }
    text += '.';
  }
  return fail(errc::part_not_found, std::move(text));
}

result<given> give(file_set& from, std::string_view set, const address& what, const caller& who, bool redacts,
                   const std::string& uri, std::uint64_t most) {
  result<given> made;
  if (what.what == topic::file) {
    made = what.key || what.as_json ? give_values(from, set, what, who) : give_raw(from, set, what.path, who, redacts);
  } else if (!may_use_layers(from, set, who)) {
    return may_not_use_layers();
  } else {
    made = give_of_layers(from, set, what, who, {static_cast<std::size_t>(most)});
  }
  if (!made) return made;
  if (made->text.size() > most) return tl::unexpected(bytes::too_large(uri, made->text.size(), most, false));
  return made;
}

}  // namespace hondana::config_files
