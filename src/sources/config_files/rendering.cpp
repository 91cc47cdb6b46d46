/// Writing what was found.
#include "sources/config_files/rendering.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/json/writer.hpp"
#include "sources/config_files/differences.hpp"
#include "text/located/as_json.hpp"

namespace hondana::config_files {
namespace {

/// JSON while it is written.
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
    // Names that are masked may look the same; the first of them stands for all, as it does where keys are looked for.
    std::unordered_set<std::string_view> written;
    for (const auto& one : shown.members) {
      if (is_full()) break;
      if (!written.insert(one.key).second) continue;
      out_.key(one.key);
      write(one.value);
    }
    out_.end_object();
  }

  /// Where a value comes from, as members of an object.
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

  /// Where each value of a tree comes from, and what it overrides.
  void write_origins(std::string& key, const blend& of, bool with_values) {
    if (is_full()) return;
    const bool is_nothing = key.empty() && of.is_table && of.members.empty();  // no layer says anything
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

/// Whether a difference does not show, since both values are masked.
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

}  // namespace hondana::config_files
