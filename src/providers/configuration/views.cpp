/// Putting the views together.
#include "providers/configuration/views.hpp"

#include <utility>

#include "bytes/prepare.hpp"
#include "bytes/sha256.hpp"
#include "located/as_json.hpp"
#include "providers/configuration/rendering.hpp"
#include "secrets/redactor.hpp"

namespace hondana::configuration {
namespace {

constexpr std::string_view made_type = "application/json";
constexpr std::string_view stale_key = "dev.hondana/stale";
constexpr std::string_view remarks_key = "dev.hondana/remarks";
constexpr std::size_t most_nearby = 1000;
constexpr std::size_t most_remarks = 10;

std::string digest_of(std::string_view text, std::string_view more = {}) {
  bytes::sha256 digest;
  digest.feed(text);
  if (!more.empty()) {
    digest.feed(std::string_view("\0", 1));
    digest.feed(more);
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

result<given> give_raw(file_set& from, const std::string& path, bool redacts) {
  auto file = from.read(path);
  if (!file) return tl::unexpected(std::move(file.error()));
  given made{std::move(file->text.bytes), std::string(media_type_of(file->how)), "file", path, {}};
  made.is_racy = file->text.is_racy;
  if (redacts) {
    // What keys say of the values below them shows in the tree only.
    read_file whole{{made.text, file->text.state, file->text.is_racy}, file->how, file->turn};
    const auto values = from.values_of(path, whole);
    made.facts = secrets::facts_of(mask_text(made.text, values.get()));
  }
  made.version = made.is_racy ? digest_of(made.text) : disk::version_of(file->text.state);
  return made;
}

result<given> give_values(file_set& from, const address& what) {
  auto said = from.values(what.path);
  if (!said) return tl::unexpected(std::move(said.error()));
  const auto& root = said->what->shown.root;
  if (!what.key) {
    auto made = json_of(located::json_text(root), "file", what.path);
    made.facts = facts_of(*said);
    if (!said->stale.empty()) made.version = digest_of(made.text, said->stale);
    return made;
  }
  const auto along = parse_key(*what.key);
  if (!along) return tl::unexpected(along.error());
  const auto found = seek(root, *along);
  if (found.used < along->size()) {
    return no_such_key('"' + what.path + '"', *along, found.key, found.used, names_in(*found.at, most_nearby));
  }
  auto made = json_of(render_value(*found.at, found.key, what.path, said->stale), "value", found.key);
  made.facts = facts_of(*said);
  return made;
}

tl::unexpected<failure> no_such_layer(const file_set& from, std::string_view asked) {
  std::string all;
  for (const auto& one : from.layer_settings()) (all += all.empty() ? "" : ", ") += one.name;
  return fail(errc::resource_not_found, "There is no layer \"" + std::string(asked.substr(0, 100)) + "\" in this set. " +
                                            (all.empty() ? "It has none." : "There are " + all + "."));
}

result<side> side_called(const file_set& from, std::string_view name) {
  if (name == merged_name) return side();
  const auto found = layer_called(from.layer_settings(), name);
  if (!found) return no_such_layer(from, name);
  return side(*found);
}

result<given> give_merged(std::string_view set, const layer_states& layers, const address& what, budget within) {
  const auto all = merged(layers);
  const auto along = parse_key(what.key.value_or(""));
  if (!along) return tl::unexpected(along.error());
  const auto found = seek(all, *along);
  if (found.used < along->size()) {
    return no_such_key("the merged configuration", *along, found.key, found.used, names_in(found, most_nearby));
  }
  return json_of(render_merged(set, layers, found, !what.key, within), what.key ? "value" : "merged",
                 what.key ? found.key : "merged");
}

result<given> give_of_layers(file_set& from, std::string_view set, const address& what, budget within) {
  if (from.layer_settings().empty()) return no_such_layer(from, what.layer);
  std::optional<std::size_t> layer;
  side before;
  side after;
  // Names are looked up first, since they cost nothing.
  if (what.what == topic::layer) {
    layer = layer_called(from.layer_settings(), what.layer);
    if (!layer) return no_such_layer(from, what.layer);
  } else if (what.what == topic::diff) {
    const auto one = side_called(from, what.layer);
    if (!one) return tl::unexpected(one.error());
    const auto other = side_called(from, what.to);
    if (!other) return tl::unexpected(other.error());
    before = *one;
    after = *other;
  }
  const auto layers = from.layers();
  if (!layers) return tl::unexpected(layers.error());
  if (layer) return json_of(render_layer(set, *layers, *layer, within), "layer", "layer " + what.layer);
  if (what.what == topic::diff) {
    return json_of(render_difference(set, *layers, before, after, within), "diff", what.layer + ".." + what.to);
  }
  return give_merged(set, *layers, what, within);
}

}  // namespace

tl::unexpected<failure> no_such_key(std::string_view where, const key_path& asked, std::string_view found, std::size_t used,
                                    std::vector<std::string> names) {
  std::string text = "There is no such key in " + std::string(where) + ": ";
  text += found.empty() ? "at its top" : "below " + std::string(found);
  const auto near = nearest(asked[used].name, std::move(names));
  if (near.empty()) {
    text += " there are no keys.";
  } else {
    text += " the nearest are ";
    for (std::size_t i = 0; i < near.size(); ++i) {
      std::string whole(found);
      append_part(whole, near[i]);
      (text += i == 0 ? "" : ", ") += whole;
    }
    text += '.';
  }
  return fail(errc::resource_not_found, std::move(text));
}

bool may_use_layers(const file_set& from, std::string_view set, const caller& who, bool also_seen) {
  if (!who.view) return true;
  for (std::size_t i = 0; i < from.layer_settings().size(); ++i) {
    const auto& path = from.file_of_layer(i);
    if (path.empty()) continue;
    const auto uri = uri_of_file(set, path);
    if (!who.view->may_read(uri) || (also_seen && !who.view->may_see(uri))) return false;
    if (!who.view->looks_at_entries()) continue;
    const auto file = from.see(path);
    if (file && !who.view->may_read_entry(entry_of(set, path, *file))) return false;
  }
  return true;
}

result<given> give(file_set& from, std::string_view set, const address& what, const caller& who, bool redacts,
                   const std::string& uri, std::uint64_t most) {
  result<given> made;
  if (what.what == topic::file) {
    made = what.key || what.as_json ? give_values(from, what) : give_raw(from, what.path, redacts);
  } else if (!may_use_layers(from, set, who)) {
    return fail(errc::access_denied, "This is made of files that you may not read.");
  } else {
    made = give_of_layers(from, set, what, {static_cast<std::size_t>(most)});
  }
  if (!made) return made;
  if (made->text.size() > most) return tl::unexpected(bytes::too_large(uri, made->text.size(), most, false));
  return made;
}

}  // namespace hondana::configuration
