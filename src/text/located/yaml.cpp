/// Values of YAML from its events, with aliases, tags and merge keys resolved.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "text/located/growing_table.hpp"
#include "text/located/numbers.hpp"
#include "text/located/reading.hpp"
#include "text/located/texts.hpp"
#include "text/located/yaml_events.hpp"

namespace hondana::located {
namespace {

using event_kind = yaml_event::kind;

constexpr std::string_view core_tag = "tag:yaml.org,2002:";

class yaml_tree {
 public:
  yaml_tree(reading& from, const std::vector<yaml_event>& events) : from_(from), events_(events) {}

  result<node> all() {
    std::vector<node> documents;
    for (std::size_t at = 0; at < events_.size();) {
      const auto first = at + 1;
      if (first == events_.size()) break;
      // A document with nothing in it is what separators leave over.
      const bool is_empty = events_[first].is == event_kind::scalar && events_[first].is_absent;
      at = first;
      auto made = build(at, 0);
      if (!made) return made;
      if (!is_empty) documents.push_back(std::move(*made));
    }
    if (documents.empty()) return null_node(from_.at(0, 0));
    if (documents.size() == 1) return std::move(documents.front());
    HONDANA_TRY(from_.count(0));
    auto list = empty_node(kind::list, documents.front().at);
    list.at.end = documents.back().at.end;
    list.items = std::move(documents);
    return list;
  }

 private:
  /// The value that begins with the event `at`, which moves behind it.
  result<node> build(std::size_t& at, std::size_t depth) {
    const auto& what = events_[at];
    if (what.is == event_kind::alias) {
      ++at;
      ++aliases_;
      auto target = what.other;
      auto made = build(target, depth);
      --aliases_;
      return made;
    }
    if (depth > from_.most().depth) return from_.too_deep(what.at.begin);
    HONDANA_TRY(from_.count(what.at.begin));
    if (aliases_ != 0) {
      if (auto counted = from_.count_repeated(what.at.begin, what.text.size()); !counted) {
        return tl::unexpected(std::move(counted.error()));
      }
    }
    ++at;
    switch (what.is) {
      case event_kind::list:
        return build_list(what, at, depth);
      case event_kind::table:
        return build_table(what, at, depth);
      default:
        return scalar(what);
    }
  }

  result<node> build_list(const yaml_event& what, std::size_t& at, std::size_t depth) {
    remark_tag(what, {"seq", "omap", "pairs"});
    auto made = empty_node(kind::list, what.at);
    while (events_[at].is != event_kind::end) {
      auto item = build(at, depth + 1);
      if (!item) return item;
      made.items.push_back(std::move(*item));
    }
    ++at;
    return made;
  }

  result<node> build_table(const yaml_event& what, std::size_t& at, std::size_t depth) {
    remark_tag(what, {"map", "set"});
    growing_table made(what.at);
    std::unordered_set<std::string> merged;
    while (events_[at].is != event_kind::end) {
      const auto* key = &events_[at];
      const auto key_at = key->at;
      if (key->is == event_kind::alias) key = &events_[key->other];
      if (key->is != event_kind::scalar) {
        return from_.wrong(key_at.begin, "a key is a list or a table, which JSON does not support");
      }
      if (auto counted = from_.count_repeated(key_at.begin, aliases_ == 0 ? 0 : key->text.size()); !counted) {
        return tl::unexpected(std::move(counted.error()));
      }
      ++at;
      auto member = build(at, depth + 1);
      if (!member) return member;
      const bool is_merge = key->text == "<<" && (key->is_plain || key->tag == std::string(core_tag) + "merge");
      if (is_merge && merge(*member, made, merged)) continue;
      if (is_merge) from_.remark(key_at.begin, "the value to merge is not a table; it is stored under the key \"<<\"");
      if (!made.put(key->text, key_at, std::move(*member)) && merged.erase(key->text) == 0) {
        from_.remark_duplicate(key_at.begin, key->text);
      }
    }
    ++at;
    return made.take();
  }

  /// Adds the members of a table, or of each of a list of tables, where there are none of their names; the others are kept as
  /// replaced. Says whether it is such.
  static bool merge(node& from, growing_table& into, std::unordered_set<std::string>& merged) {
    if (from.is == kind::list) {
      for (const auto& item : from.items) {
        if (item.is != kind::table) return false;
      }
      for (auto& item : from.items) merge(item, into, merged);
      return true;
    }
    if (from.is != kind::table) return false;
    for (auto& [key, at, value] : from.members) {
      if (into.find(key) != nullptr) {
        into.table().replaced.push_back({key, at, std::move(value)});
        continue;
      }
      merged.insert(key);
      into.put(key, at, std::move(value));
    }
    std::move(from.replaced.begin(), from.replaced.end(), std::back_inserter(into.table().replaced));
    return true;
  }

  void remark_tag(const yaml_event& what, std::initializer_list<std::string_view> usual) {
    if (what.tag.empty()) return;
    for (const auto name : usual) {
      if (what.tag == std::string(core_tag).append(name)) return;
    }
    from_.remark(what.at.begin, "the tag " + shown(what.tag) + " is ignored");
  }

  [[nodiscard]] node scalar(const yaml_event& what) {
    const auto text = [&what] { return text_node(what.text, what.at); };
    if (what.tag.empty()) return what.is_plain ? plain(what) : text();
    if (!what.tag.starts_with(core_tag)) {
      if (what.tag != "!") from_.remark(what.at.begin, "the tag " + shown(what.tag) + " is ignored; its value is read as text");
      return text();
    }
    const auto name = std::string_view(what.tag).substr(core_tag.size());
    if (name == "str" || name == "binary" || name == "timestamp" || name == "merge") return text();
    auto meant = resolve_plain(what.text, what.at).what;
    using is = kind;
    if (name == "float" && meant.is == is::integer) {
      if (auto real = json_number(meant.text + "e0", what.at)) return std::move(*real);
    }
    const bool fits = (name == "null" && meant.is == is::null) || (name == "bool" && meant.is == is::boolean) ||
                      (name == "int" && meant.is == is::integer) || (name == "float" && meant.is == is::real);
    if (fits) return meant;
    from_.remark(what.at.begin, "the tag " + shown(what.tag) + " does not fit its value, which is read as text");
    return text();
  }

  [[nodiscard]] node plain(const yaml_event& what) {
    auto [meant, doubt] = resolve_plain(what.text, what.at);
    if (doubt == scalar_doubt::unwritable) {
      from_.remark(what.at.begin, "infinities and NaN are not JSON numbers; the value is read as text");
    } else if (doubt == scalar_doubt::too_large) {
      from_.remark(what.at.begin, "a number that is too large is read as text");
    }
    return std::move(meant);
  }

  reading& from_;
  const std::vector<yaml_event>& events_;
  std::size_t aliases_ = 0;  // that stand for what is being built
};

}  // namespace

result<node> read_yaml(reading& from) {
  HONDANA_TRY(const auto events, yaml_events(from));
  return yaml_tree(from, events).all();
}

}  // namespace hondana::located
