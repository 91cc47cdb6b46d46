/// By name, by links, by age.
#include "sources/docs/weighing.hpp"
#include "base/ascii/characters.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sources/docs/naming.hpp"
#include "text/language/language.hpp"

namespace hondana::docs {
namespace {

using namespace std::chrono_literals;

constexpr double usual = 0.5;
constexpr double highest_of_heuristics = 0.95;
constexpr auto new_for = 30 * 24h;
constexpr auto old_after = 2 * 365 * 24h;

enum class reach {
  whole,  ///< The whole name is this.
  word,   ///< It is among its words, or in a Japanese name anywhere.
};

struct name_rule {
  std::string_view name;  ///< Folded.
  reach how;
};

struct family {
  double priority;
  bool is_low;  ///< Neither links nor its age make it matter more.
  std::string_view reason;
};

constexpr family archive{0.1, true, "named like an archive or an outdated document"};
constexpr family changes{0.2, true, "named like a list of changes"};
constexpr family formal{0.3, true, "named like a license, a list of names or a draft"};
constexpr family entrance{0.9, false, "named like an index or introduction"};
constexpr family guide{0.8, false, "named like a guide"};

constexpr std::array archive_names{
    name_rule{"archive", reach::word}, name_rule{"archives", reach::word},   name_rule{"archived", reach::word},
    name_rule{"old", reach::word},     name_rule{"obsolete", reach::word},   name_rule{"deprecated", reach::word},
    name_rule{"legacy", reach::word},  name_rule{"アーカイブ", reach::word}, name_rule{"廃止", reach::word},
    name_rule{"旧版", reach::word},    name_rule{"旧", reach::whole}};
/// Folders only: a document of such a name tells how backups are made.
constexpr std::array copy_names{name_rule{"backup", reach::word}, name_rule{"backups", reach::word},
                                name_rule{"バックアップ", reach::word}};
constexpr std::array change_names{
    name_rule{"changelog", reach::word},     name_rule{"changes", reach::whole},      name_rule{"history", reach::whole},
    name_rule{"news", reach::whole},         name_rule{"release-notes", reach::word}, name_rule{"releasenotes", reach::word},
    name_rule{"release_notes", reach::word}, name_rule{"変更履歴", reach::word},      name_rule{"更新履歴", reach::word},
    name_rule{"改訂履歴", reach::word},      name_rule{"変更点", reach::word},        name_rule{"リリースノート", reach::word}};
constexpr std::array formal_names{name_rule{"license", reach::word},  name_rule{"licence", reach::word},
                                  name_rule{"copying", reach::whole}, name_rule{"notice", reach::whole},
                                  name_rule{"authors", reach::whole}, name_rule{"draft", reach::word},
                                  name_rule{"drafts", reach::word},   name_rule{"下書き", reach::word},
                                  name_rule{"草稿", reach::word},     name_rule{"ライセンス", reach::word}};
constexpr std::array entrance_names{
    name_rule{"index", reach::whole},   name_rule{"readme", reach::word},    name_rule{"home", reach::whole},
    name_rule{"toc", reach::whole},     name_rule{"contents", reach::whole}, name_rule{"introduction", reach::word},
    name_rule{"はじめに", reach::word}, name_rule{"目次", reach::word},      name_rule{"お読みください", reach::word},
    name_rule{"最初に", reach::word},   name_rule{"索引", reach::whole}};
constexpr std::array guide_names{name_rule{"guide", reach::word},
                                 name_rule{"getting-started", reach::word},
                                 name_rule{"getting_started", reach::word},
                                 name_rule{"gettingstarted", reach::word},
                                 name_rule{"quickstart", reach::word},
                                 name_rule{"quick-start", reach::word},
                                 name_rule{"tutorial", reach::word},
                                 name_rule{"overview", reach::word},
                                 name_rule{"manual", reach::word},
                                 name_rule{"howto", reach::word},
                                 name_rule{"入門", reach::word},
                                 name_rule{"手引き", reach::word},
                                 name_rule{"手引", reach::word},
                                 name_rule{"ガイド", reach::word},
                                 name_rule{"使い方", reach::word},
                                 name_rule{"概要", reach::word},
                                 name_rule{"導入", reach::word},
                                 name_rule{"マニュアル", reach::word},
                                 name_rule{"チュートリアル", reach::word},
                                 name_rule{"案内", reach::word}};

bool says(std::string_view name, const name_rule& rule) noexcept {
  if (rule.how == reach::whole) return name == rule.name;
  for (auto at = name.find(rule.name); at != std::string_view::npos; at = name.find(rule.name, at + 1)) {
    const auto end = at + rule.name.size();
    const bool begins = at == 0 || !ascii::is_lower_or_digit(name[at - 1]) || !ascii::is_lower_or_digit(rule.name.front());
    const bool ends = end == name.size() || !ascii::is_lower_or_digit(name[end]) || !ascii::is_lower_or_digit(rule.name.back());
    if (begins && ends) return true;
  }
  return false;
}

template <std::size_t size>
bool says_any(std::string_view name, const std::array<name_rule, size>& all) noexcept {
  return std::any_of(all.begin(), all.end(), [name](const name_rule& one) { return says(name, one); });
}

bool lies_in_archive(std::string_view path) noexcept {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    const auto folder = path.substr(0, slash);
    if (says_any(folder, archive_names) || says_any(folder, copy_names)) return true;
    path.remove_prefix(slash + 1);
  }
  return false;
}

const family* family_of(std::string_view path) noexcept {
  const auto name = stem_of(last_name(path));
  if (lies_in_archive(path) || says_any(name, archive_names)) return &archive;
  if (says_any(name, change_names)) return &changes;
  if (says_any(name, formal_names)) return &formal;
  if (says_any(name, entrance_names)) return &entrance;
  if (says_any(name, guide_names)) return &guide;
  return nullptr;
}

double of_links(std::size_t links) noexcept { return links >= 10 ? 0.15 : links >= 5 ? 0.1 : links >= 2 ? 0.05 : 0.0; }

}  // namespace

weight usual_weight(std::string_view path, std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified,
                    std::size_t links, std::chrono::system_clock::time_point now) {
  const auto plain = language::folded(path);
  const auto* named = family_of(plain);
  weight made{named == nullptr ? usual : named->priority, std::string(named == nullptr ? "default" : named->reason)};
  const auto add = [&made](double by, const std::string& why) {
    made.priority += by;
    made.reason += ", " + why;
  };
  const auto depth = static_cast<double>(std::count(plain.begin(), plain.end(), '/'));
  if (named == &entrance && depth > 0) add(-0.15, "in a folder");
  if (named == nullptr || !named->is_low) {
    if (const auto more = of_links(links); more > 0) add(more, std::to_string(links) + " documents link to it");
    if (modified && now - *modified <= new_for) add(0.05, "changed recently");
    if (modified && now - *modified > old_after) add(-0.1, "not changed for two years");
  }
  // So that lists do not show 0.6499999.
  made.priority = std::round(std::clamp(made.priority, 0.0, highest_of_heuristics) * 100) / 100;
  return made;
}

}  // namespace hondana::docs
