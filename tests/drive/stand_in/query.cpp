/// How queries are read: `'ID' in parents and (name contains 'a' or not trashed = true)`.
#include "drive/stand_in/query.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "drive/stand_in/web.hpp"

namespace drive_test {
namespace {

namespace json = boost::json;

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return out;
}

std::string text_of(const json::object& from, std::string_view name) {
  const auto* const one = from.if_contains(name);
  if (one == nullptr) return "";
  if (const auto* const text = one->if_string()) return std::string(*text);
  return "";
}

bool is_true(const json::object& from, std::string_view name) {
  const auto* const one = from.if_contains(name);
  return one != nullptr && one->is_bool() && one->get_bool();
}

/// A word of the name begins so, as Drive's `name contains` has it; what is no ASCII is found anywhere.
bool has_word(std::string_view name, std::string_view wanted) {
  const auto whole = lower(name);
  const auto part = lower(wanted);
  for (auto at = whole.find(part); at != std::string::npos; at = whole.find(part, at + 1)) {
    if (at == 0 || !std::isalnum(static_cast<unsigned char>(whole[at - 1])) || static_cast<unsigned char>(part[0]) >= 0x80)
      return true;
  }
  return part.empty();
}

struct token {
  enum class kind { word, text, sign, end } is = kind::end;
  std::string text{};
};

/// Nothing when a text does not end or a character is none of theirs.
std::optional<std::vector<token>> tokens_of(std::string_view from) {
  std::vector<token> out;
  while (!from.empty()) {
    const char c = from.front();
    if (c == ' ' || c == '\n' || c == '\t') {
      from.remove_prefix(1);
    } else if (c == '\'') {
      token one{token::kind::text, {}};
      from.remove_prefix(1);
      while (!from.empty() && from.front() != '\'') {
        if (from.front() == '\\') {
          from.remove_prefix(1);
          if (from.empty()) return std::nullopt;
        }
        one.text += from.front();
        from.remove_prefix(1);
      }
      if (from.empty()) return std::nullopt;
      from.remove_prefix(1);
      out.push_back(std::move(one));
    } else if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      token one{token::kind::word, {}};
      for (; !from.empty() && (std::isalnum(static_cast<unsigned char>(from.front())) != 0 || from.front() == '.');
           from.remove_prefix(1))
        one.text += from.front();
      out.push_back(std::move(one));
    } else {
      token one{token::kind::sign, std::string(1, c)};
      from.remove_prefix(1);
      if ((c == '<' || c == '>' || c == '!') && !from.empty() && from.front() == '=') {
        one.text += '=';
        from.remove_prefix(1);
      }
      if (std::string_view("( ) = < > <= >= !=").find(one.text) == std::string_view::npos) return std::nullopt;
      out.push_back(std::move(one));
    }
  }
  out.emplace_back();
  return out;
}

bool compares(std::int64_t one, std::string_view sign, std::int64_t other) {
  if (sign == "=") return one == other;
  if (sign == "!=") return one != other;
  if (sign == "<") return one < other;
  if (sign == "<=") return one <= other;
  if (sign == ">") return one > other;
  return one >= other;
}

class query_reader {
 public:
  query_reader(std::vector<token> tokens, queried_list of, const alias& by,
               const std::function<bool(const std::string&)>& is_there)
      : tokens_(std::move(tokens)), of_(of), by_(by), is_there_(is_there) {}

  parsed_query read() {
    auto fits = either();
    if (fits && peek().is == token::kind::end) out_.fits = std::move(fits);
    return std::move(out_);
  }

 private:
  const token& peek() const { return tokens_[at_]; }
  token next() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool takes(token::kind is, std::string_view text) {
    if (peek().is != is || peek().text != text) return false;
    ++at_;
    return true;
  }

  query either() {
    auto left = both();
    while (left && takes(token::kind::word, "or")) {
      auto right = both();
      if (!right) return {};
      left = [left, right](const queried& one) { return left(one) || right(one); };
    }
    return left;
  }
  query both() {
    auto left = negated();
    while (left && takes(token::kind::word, "and")) {
      auto right = negated();
      if (!right) return {};
      left = [left, right](const queried& one) { return left(one) && right(one); };
    }
    return left;
  }
  query negated() {
    if (++depth_ > 200) return {};
    if (takes(token::kind::word, "not")) {
      auto inner = negated();
      if (!inner) return {};
      return [inner](const queried& one) { return !inner(one); };
    }
    if (takes(token::kind::sign, "(")) {
      auto inner = either();
      if (!inner || !takes(token::kind::sign, ")")) return {};
      return inner;
    }
    return term();
  }

  query term() {
    const auto first = next();
    if (first.is == token::kind::text) {
      if (!takes(token::kind::word, "in")) return {};
      return membership(first.text, next());
    }
    if (first.is != token::kind::word) return {};
    const auto& field = first.text;
    if (field == "sharedWithMe" && peek().text != "=" && peek().text != "!=")
      return [](const queried& one) { return one.is_shared_with_me; };
    const auto sign = next();
    const auto is_contains = sign.is == token::kind::word && sign.text == "contains";
    if (!is_contains && sign.is != token::kind::sign) return {};
    return comparison(field, is_contains ? "contains" : sign.text, next());
  }

  query membership(const std::string& what, const token& field) {
    if (of_ == queried_list::drives || field.is != token::kind::word) return {};
    if (field.text == "parents") {
      const auto id = by_(what);
      out_.names_parent = true;
      if (!is_there_(id)) out_.missing_parent = id.empty() ? "." : id;
      return [id](const queried& one) {
        const auto* const parents = one.shown.if_contains("parents");
        if (parents == nullptr) return false;
        return std::any_of(parents->get_array().begin(), parents->get_array().end(),
                           [&](const json::value& all) { return all.get_string() == id; });
      };
    }
    if (field.text != "owners" && field.text != "writers" && field.text != "readers") return {};
    const auto whom = by_(what);
    const auto name = field.text;
    return [whom, name](const queried& one) {
      const auto* const all = one.shown.if_contains(name == "owners" ? "owners" : "#" + name);
      if (all == nullptr) return false;
      return std::any_of(all->get_array().begin(), all->get_array().end(), [&](const json::value& person) {
        return person.is_string() ? person.get_string() == whom : person.at("emailAddress").get_string() == whom;
      });
    };
  }

  query comparison(const std::string& field, const std::string& sign, const token& with) {
    const bool is_equality = sign == "=" || sign == "!=";
    const bool is_not = sign == "!=";
    static const std::set<std::string> flags{"trashed", "starred", "sharedWithMe", "hidden"};
    if (flags.contains(field)) {
      const bool is_boolean = with.is == token::kind::word && (with.text == "true" || with.text == "false");
      if (!is_equality || !is_boolean || (field == "hidden") != (of_ == queried_list::drives)) return {};
      const bool wanted = (with.text == "true") != is_not;
      return [field, wanted](const queried& one) {
        return (field == "sharedWithMe" ? one.is_shared_with_me : is_true(one.shown, field)) == wanted;
      };
    }
    if (with.is != token::kind::text) return {};
    const auto text = with.text;
    static const std::set<std::string> times{"modifiedTime", "createdTime", "viewedByMeTime", "sharedWithMeTime"};
    if (times.contains(field)) {
      const auto wanted = time_of(text);
      if (!wanted || sign == "contains") return {};
      return [field, sign, wanted](const queried& one) {
        const auto at = time_of(text_of(one.shown, field));
        return at && compares(*at, sign, *wanted);
      };
    }
    if (field == "name") {
      if (sign == "contains") return [text](const queried& one) { return has_word(text_of(one.shown, "name"), text); };
      if (!is_equality) return {};
      return [text, is_not](const queried& one) { return (text_of(one.shown, "name") == text) != is_not; };
    }
    if (of_ == queried_list::drives) return {};
    if (field == "fullText" && sign == "contains") {
      out_.has_full_text = true;
      const auto wanted = lower(text);
      return [wanted](const queried& one) {
        return lower(text_of(one.shown, "name") + ' ' + one.text).find(wanted) != std::string::npos;
      };
    }
    if (field == "mimeType") {
      if (sign == "contains") return [text](const queried& one) { return text_of(one.shown, "mimeType").starts_with(text); };
      if (!is_equality) return {};
      return [text, is_not](const queried& one) { return (text_of(one.shown, "mimeType") == text) != is_not; };
    }
    if (field == "shortcutDetails.targetId" && is_equality) {
      return [text, is_not](const queried& one) {
        const auto* const details = one.shown.if_contains("shortcutDetails");
        return (details != nullptr && text_of(details->get_object(), "targetId") == text) != is_not;
      };
    }
    return {};
  }

  std::vector<token> tokens_;
  queried_list of_;
  const alias& by_;
  const std::function<bool(const std::string&)>& is_there_;
  std::size_t at_ = 0;
  int depth_ = 0;
  parsed_query out_{};
};

}  // namespace

parsed_query parse_query(std::string_view text, queried_list of, const alias& by,
                         const std::function<bool(const std::string&)>& is_there) {
  auto tokens = tokens_of(text);
  if (!tokens || text.size() > 20'000) return {};
  return query_reader(std::move(*tokens), of, by, is_there).read();
}

}  // namespace drive_test
