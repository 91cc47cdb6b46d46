/// Lines out of pieces, families out of lines.
#include "sources/metrics/exposition/parser.hpp"

#include <cstring>
#include <unordered_set>
#include <utility>

#include "sources/metrics/exposition/lines.hpp"

namespace hondana::exposition {

struct parser::state {
  format which;
  hearer& to;
  limits most;
  sample_line reader;

  std::string begun{};  ///< A line whose end has not come yet.
  std::size_t bytes = 0, lines = 0, samples = 0;
  bool has_ended = false;  ///< `# EOF` was there.
  bool is_enough = false;  ///< Nothing more is wanted.
  std::optional<failure> broken{};

  std::string family{};  ///< What `told` is being gathered of; empty: nothing.
  series::metadata told{};
  bool has_kind = false, has_help = false, has_unit = false;
  std::unordered_set<std::size_t> families{};  ///< Digests of the names of those that were told.

  state(format format_of_text, hearer& who, const limits& limits_of_text)
      : which(format_of_text), to(who), most(limits_of_text), reader(format_of_text, limits_of_text) {}

  [[nodiscard]] tl::unexpected<failure> at_line(failure why) const {
    why.public_text = "exposition, line " + std::to_string(lines) + ": " + why.public_text;
    return tl::unexpected(std::move(why));
  }
  [[nodiscard]] tl::unexpected<failure> wrong(std::string_view what) const {
    return at_line({errc::invalid_argument, std::string(what), {}});
  }
  [[nodiscard]] tl::unexpected<failure> too_much(std::string_view what, std::size_t limit, std::string_view name) const {
    return at_line({errc::response_too_large,
                    std::string(what) + " more than " + std::to_string(limit) + " (the limit \"" + std::string(name) + "\")",
                    {}});
  }

  result<void> take(std::string_view piece);
  result<void> end();
  result<void> read(std::string_view line);
  result<void> read_comment_line(std::string_view line);
  result<void> tell_family();
};

result<void> parser::state::take(std::string_view piece) {
  while (!piece.empty() && !is_enough) {
    const auto* const found = static_cast<const char*>(std::memchr(piece.data(), '\n', piece.size()));
    const auto length = found == nullptr ? piece.size() : static_cast<std::size_t>(found - piece.data());
    if (begun.size() + length > most.line) {
      ++lines;
      return too_much("bytes in one line:", most.line, "line");
    }
    const auto with_end = length + (found != nullptr ? 1 : 0);
    if (with_end > most.bytes - bytes) {
      ++lines;
      return too_much("bytes of the whole text:", most.bytes, "body_size_limit");
    }
    bytes += with_end;
    if (found == nullptr) {
      begun += piece;
      return {};
    }
    result<void> done;
    if (begun.empty()) {
      done = read(piece.substr(0, length));
    } else {
      begun += piece.substr(0, length);
      done = read(begun);
      begun.clear();
    }
    if (!done) return done;
    piece.remove_prefix(length + 1);
  }
  return {};
}

result<void> parser::state::end() {
  if (!begun.empty() && !is_enough) {
    const auto line = std::exchange(begun, {});
    HONDANA_TRY(read(line));
  }
  if (is_enough) return {};
  HONDANA_TRY(tell_family());
  if (which == format::open_metrics && !has_ended) return wrong("the text does not end with # EOF");
  return {};
}

result<void> parser::state::read(std::string_view line) {
  ++lines;
  if (has_ended) return wrong("there is text after # EOF");
  if (std::memchr(line.data(), 0, line.size()) != nullptr) return wrong("the line contains a NUL byte");
  if (line.ends_with('\r')) return wrong("the line ends with CR LF instead of LF");
  if (!series::is_utf8(line)) return wrong("the line is not valid UTF-8");
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return which == format::prometheus ? result<void>{} : wrong("an empty line");
  if (line[first] == '#') return read_comment_line(line);
  HONDANA_TRY(tell_family());
  if (auto done = reader.read(line); !done) return at_line(std::move(done).error());
  if (samples == most.samples) return too_much("samples:", most.samples, "sample_limit");
  ++samples;
  is_enough = !to.sample(reader.of(), reader.value(), reader.at());
  return {};
}

result<void> parser::state::read_comment_line(std::string_view line) {
  const auto comment_of = read_comment(line, which);
  if (!comment_of) return at_line(comment_of.error());
  const auto& [what, name, text] = *comment_of;
  if (what == comment::none) return {};
  if (what == comment::end) {
    has_ended = true;
    return tell_family();
  }
  if (name.size() > most.label_bytes) return too_much("bytes of a name:", most.label_bytes, "label_bytes");
  if (name != family) {
    HONDANA_TRY(tell_family());
    family = name;
  }
  const bool is_strict = which == format::open_metrics;
  auto& is_there = what == comment::help ? has_help : what == comment::type ? has_kind : has_unit;
  if (is_there && is_strict) return wrong("duplicate # HELP, # TYPE or # UNIT of a metric family");
  if (is_there) return {};
  is_there = true;
  if (what == comment::help) {
    told.help = unescaped(text, is_strict);
  } else if (what == comment::unit) {
    told.unit = text;
  } else {
    told.kind = series::kind_of(text);
    if (told.kind == series::kind::unknown && text != "unknown" && text != "untyped") return wrong("unknown metric type");
  }
  return {};
}

result<void> parser::state::tell_family() {
  if (family.empty()) return {};
  const bool is_new = families.insert(std::hash<std::string_view>{}(family)).second;
  if (families.size() > most.families) return too_much("families:", most.families, "families");
  if (is_new) {
    if (told.unit.empty()) told.unit = series::unit_in(family);
    to.family(family, told);
  }
  family.clear();
  told = {};
  has_kind = has_help = has_unit = false;
  return {};
}

parser::parser(format which, hearer& to, const limits& most) : state_(std::make_unique<state>(which, to, most)) {}
parser::~parser() = default;

result<void> parser::take(std::string_view piece) {
  if (state_->broken) return tl::unexpected(*state_->broken);
  auto done = state_->take(piece);
  if (!done) state_->broken = done.error();
  return done;
}

result<void> parser::finish() {
  if (state_->broken) return tl::unexpected(*state_->broken);
  auto done = state_->end();
  if (!done) state_->broken = done.error();
  return done;
}

}  // namespace hondana::exposition
