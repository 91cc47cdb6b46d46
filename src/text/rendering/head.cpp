/// JSON, since a title may hold anything.
#include "text/rendering/head.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <hondana/value.hpp>

#include "base/json/writer.hpp"

namespace hondana::rendering {
namespace {

/// What a child answers with; whatever else goes wrong there is nobody's fault but its own.
constexpr std::array child_codes{errc::access_denied, errc::invalid_argument, errc::response_too_large, errc::unsupported,
                                 errc::source_unavailable};

std::string string_of(const value& from, std::string_view name) {
  const auto* found = from.find(name);
  const auto* text = found == nullptr ? nullptr : found->as_string();
  return text == nullptr ? std::string() : *text;
}

}  // namespace

std::string line_of(const child_head& of) {
  std::string line;
  json::writer to(line);
  to.begin_object().member_if("title", of.facts.title).member_if("author", of.facts.author);
  to.member_if("language", of.facts.language).key("pages").unsigned_integer(of.facts.pages);
  to.key("beside").unsigned_integer(of.facts.beside.size());
  to.key("cut").boolean(of.facts.is_cut).member_if("lacks", of.lacks).end_object();
  return line + '\n';
}

std::string line_of(const failure& why, std::string_view lacks) {
  std::string line;
  json::writer to(line);
  to.begin_object().member("error", name_of(why.code)).member("text", why.public_text);
  to.member_if("why", why.private_text).member_if("lacks", lacks).end_object();
  return line + '\n';
}

result<child_head> head_in(std::string_view line, std::string& lacks) {
  const auto read = value::parse(line, {.bytes = longest_head, .values = 100});
  if (!read || read->as_object() == nullptr)
    return fail(errc::source_unavailable, "the document cannot be rendered: the rendering process did not answer");
  lacks = string_of(*read, "lacks");
  if (const auto code = string_of(*read, "error"); !code.empty()) {
    const auto* const known =
        std::find_if(child_codes.begin(), child_codes.end(), [&code](const auto one) { return name_of(one) == code; });
    return fail(known == child_codes.end() ? errc::source_unavailable : *known, string_of(*read, "text"),
                string_of(*read, "why"));
  }
  child_head made;
  made.lacks = lacks;
  made.facts.title = string_of(*read, "title");
  made.facts.author = string_of(*read, "author");
  made.facts.language = string_of(*read, "language");
  const auto* pages = read->find("pages");
  made.facts.pages =
      static_cast<std::size_t>(std::max<std::int64_t>(0, pages == nullptr ? 0 : pages->as_integer().value_or(0)));
  const auto* beside = read->find("beside");
  made.beside = static_cast<std::size_t>(std::max<std::int64_t>(0, beside == nullptr ? 0 : beside->as_integer().value_or(0)));
  const auto* cut = read->find("cut");
  made.facts.is_cut = cut != nullptr && cut->as_boolean().value_or(false);
  return made;
}

}  // namespace hondana::rendering
