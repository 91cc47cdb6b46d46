/// Contents of config:// URIs: files, values, merged layers and differences, as text or JSON.
#include "sources/config_files/config_views.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes/prepared_content.hpp"
#include "base/bytes/sha256.hpp"
#include "base/json/writer.hpp"
#include "sources/config_files/access_filter.hpp"
#include "sources/config_files/masked_values.hpp"
#include "sources/config_files/merged_layers.hpp"
#include "text/located/node.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::config_files {
namespace {

/// Writes JSON up to a size limit.
class page {
 public:
  page(const layer_states& all, budget within) : all_(all), within_(within) {}

  [[nodiscard]] bool is_full() const noexcept { return text_.size() > within_.most; }
  [[nodiscard]] json::writer& out() noexcept { return out_; }
  [[nodiscard]] std::string take() { return std::move(text_); }

  void write(const located::node& shown) {
    if (!is_full()) out_.raw(located::json_text(shown));
  }
  void write(const blend& shown) {
    if (!shown.is_table) return write(*shown.from.shown);
    out_.begin_object();
    // Masked names may be equal. Only the first is written, which is also the one that a key finds.
    std::unordered_set<std::string_view> written;
    for (const auto& one : shown.members) {
      if (is_full()) break;
      if (!written.insert(one.key).second) continue;
      out_.key(one.key);
      write(one.value);
    }
    out_.end_object();
  }

  /// Writes where a value comes from, as members of an object.
  void write_place(const layered_value& of, std::uint32_t line) {
    const auto& layer = all_[of.layer];
    out_.member("layer", layer.of->name);
    if (!layer.file.empty()) {
      out_.member("file", layer.file).key("line").unsigned_integer(line);
    } else if (layer.of->is == layer_options::kind::environment && line >= 1 && line <= layer.names.size()) {
      out_.member("variable", layer.names[line - 1]);
    } else if (layer.of->is == layer_options::kind::flags) {
      out_.key("argument").unsigned_integer(line);
    }
  }
  void write_place(const layered_value& of) { write_place(of, of.shown->at.line); }

  /// Writes where each value of a tree comes from, and what it overrides.
  void write_origins(std::string& key, const blend& of, bool with_values) {
    if (is_full()) return;
    const bool is_nothing = key.empty() && of.is_table && of.members.empty();  // no layer has a value
    if ((!of.is_table || of.members.empty() || !of.overrides.empty()) && !is_nothing) {
      out_.begin_object().member("key", key);
      write_place(of.from);
      write_overrides(of, with_values);
      out_.end_object();
    }
    for (const auto& one : of.members) {
      const auto size = key.size();
      append_part(key, one.key);
      write_origins(key, one.value, with_values);
      key.resize(size);
    }
  }
  void write_overrides(const blend& of, bool with_values) {
    if (of.overrides.empty()) return;
    out_.key("overrides").begin_array();
    for (const auto& one : of.overrides) {
      out_.begin_object();
      write_place(one);
      if (with_values) {
        out_.key("value");
        write(*one.shown);
      }
      out_.end_object();
    }
    out_.end_array();
  }

  void write_layer_facts(const layer_state& one) {
    out_.member("layer", one.of->name).member("kind", name_of(one.of->is)).member_if("file", one.file);
    out_.member_if("prefix", one.of->prefix);
    if (!one.what) out_.key("missing").boolean(true);
    if (!one.stale.empty()) out_.key("stale").begin_object().member("error", one.stale).end_object();
    if (!one.what || one.what->shown.remarks.empty()) return;
    out_.key("remarks").begin_array();
    for (const auto& remark : one.what->shown.remarks) out_.string(remark);
    out_.end_array();
  }
  void write_layers() {
    out_.key("layers").begin_array();
    for (const auto& one : all_) {
      out_.begin_object();
      write_layer_facts(one);
      out_.end_object();
    }
    out_.end_array();
  }

 private:
  const layer_states& all_;
  budget within_;
  std::string text_;
  json::writer out_{text_};
};

/// Whether a difference is invisible, because both values are masked.
bool looks_the_same(const difference& one) {
  return !one.before->is_table && !one.after->is_table &&
         located::json_text(*one.before->from.shown) == located::json_text(*one.after->from.shown);
}

}  // namespace

std::string render_value(const located::node& shown, std::string_view key, std::string_view file, std::string_view stale) {
  std::string text;
  json::writer out(text);
  out.begin_object().member("key", key).key("value").raw(located::json_text(shown));
  out.member("file", file).key("line").unsigned_integer(shown.at.line);
  if (!stale.empty()) out.key("stale").begin_object().member("error", stale).end_object();
  out.end_object();
  return text;
}

std::string render_merged(std::string_view set, const layer_states& all, const sought_in_blend& what, bool is_whole,
                          budget within) {
  page to(all, within);
  to.out().begin_object().member("set", set);
  if (!is_whole) to.out().member("key", what.key);
  to.out().key("value");
  if (what.inside != nullptr) {
    to.write(*what.inside);
  } else {
    to.write(*what.at);
  }
  to.out().key("from").begin_array();
  auto key = what.key;
  if (what.inside != nullptr) {
    to.out().begin_object().member("key", key);
    to.write_place(what.at->from, what.inside->at.line);
    to.write_overrides(*what.at, !is_whole);
    to.out().end_object();
  } else {
    to.write_origins(key, *what.at, !is_whole);
  }
  to.out().end_array();
  to.write_layers();
  to.out().end_object();
  return to.take();
}

std::string render_layer(std::string_view set, const layer_states& all, std::size_t which, budget within) {
  page to(all, within);
  const auto what = alone(all, which);
  to.out().begin_object().member("set", set);
  to.write_layer_facts(all[which]);
  to.out().key("value");
  to.write(what);
  to.out().key("from").begin_array();
  std::string key;
  to.write_origins(key, what, false);
  to.out().end_array();
  to.out().end_object();
  return to.take();
}

std::string render_difference(std::string_view set, const layer_states& all, side from, side to_side, budget within) {
  page to(all, within);
  const auto tree_of = [&all](side of) { return of ? alone(all, *of) : merged(all); };
  const auto name_of_side = [&all](side of) { return of ? std::string_view(all[*of].of->name) : merged_name; };
  const auto before = tree_of(from);
  const auto after = tree_of(to_side);
  std::vector<difference> found;
  std::size_t bytes = 0;
  find_differences(
      before, after, [&all](std::size_t a, std::size_t b) { return has_texts_only(*all[a].of) || has_texts_only(*all[b].of); },
      [&](const difference& one) {
        bytes += one.key.size();
        found.push_back(one);
        return bytes <= within.most;
      });
  const auto write_side = [&to](const blend& of) {
    to.out().key("value");
    to.write(of);
    to.write_place(of.from);
  };
  to.out().begin_object().member("set", set).member("from", name_of_side(from)).member("to", name_of_side(to_side));
  for (const bool is_added : {true, false}) {
    to.out().key(is_added ? "added" : "removed").begin_array();
    for (const auto& one : found) {
      if ((is_added ? one.before : one.after) != nullptr || to.is_full()) continue;
      to.out().begin_object().member("key", one.key);
      write_side(is_added ? *one.after : *one.before);
      to.out().end_object();
    }
    to.out().end_array();
  }
  to.out().key("changed").begin_array();
  for (const auto& one : found) {
    if (one.before == nullptr || one.after == nullptr || to.is_full()) continue;
    to.out().begin_object().member("key", one.key).key("from").begin_object();
    write_side(*one.before);
    to.out().end_object().key("to").begin_object();
    write_side(*one.after);
    to.out().end_object();
    if (looks_the_same(one)) to.out().key("masked").boolean(true);
    to.out().end_object();
  }
  to.out().end_array();
  to.write_layers();
  to.out().end_object();
  return to.take();
}

namespace {

constexpr std::string_view made_type = "application/json";
constexpr std::string_view stale_key = "dev.hondana/stale";
constexpr std::string_view remarks_key = "dev.hondana/remarks";
constexpr std::size_t most_nearby = 1000;
constexpr std::size_t most_remarks = 10;

/// The digest of a text and its metadata.
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

/// The metadata of a file's values.
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

/// The error for a text that can be neither parsed nor masked.
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
    // Secrets that are recognized by the keys above them are known from the parsed tree only.
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
  // Check names first, since that is cheap.
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
