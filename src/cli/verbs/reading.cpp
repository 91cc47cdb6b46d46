/// read: a resource as bytes, to a terminal, a pipe or a file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include <hondana/uri.hpp>

#include "cli/exit_codes.hpp"
#include "cli/flags/client_flags.hpp"
#include "cli/output.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/text_filter.hpp"
#include "cli/verbs/entries.hpp"
#include "cli/verbs/verbs.hpp"
#include "cli/visible.hpp"
#include "json/base64.hpp"
#include "json/writer.hpp"

namespace hondana::cli {
namespace {

/// Lines from 1, both included.
struct line_range {
  std::uint64_t first = 1;
  std::uint64_t last = UINT64_MAX;
};

result<line_range> range_of(const std::string& text) {
  line_range out;
  const auto dash = text.find('-');
  const auto number = [](std::string_view digits, std::uint64_t& into) {
    const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
    return wrong == std::errc() && end == digits.data() + digits.size() && into > 0;
  };
  const std::string_view all(text);
  bool is_right = number(all.substr(0, dash), out.first);
  if (dash == std::string::npos) {
    out.last = out.first;
  } else if (dash + 1 < text.size()) {
    is_right = is_right && number(all.substr(dash + 1), out.last) && out.first <= out.last;
  }
  if (is_right) return out;
  return fail(errc::invalid_argument, "--lines is A-B, A- or A, counted from 1, not \"" + text + '"');
}

/// Passes the lines of a range on. A range in the middle of a long text costs no memory.
class line_cutter {
 public:
  explicit line_cutter(line_range range) : range_(range) {}
  /// Whether nothing that comes can be of it.
  [[nodiscard]] bool is_over() const noexcept { return line_ > range_.last; }
  std::string pass(std::string_view piece) {
    std::string out;
    while (!piece.empty() && line_ <= range_.last) {
      const auto end = piece.find('\n');
      const auto part = piece.substr(0, end == std::string_view::npos ? end : end + 1);
      if (line_ >= range_.first) out += part;
      piece.remove_prefix(part.size());
      if (end != std::string_view::npos) ++line_;
    }
    return out;
  }

 private:
  line_range range_;
  std::uint64_t line_ = 1;
};

/// A file that appears under its name when it is complete. What is there and is no plain file (a device, a pipe) is written to
/// as it is, and never replaced.
class growing_file {
 public:
  explicit growing_file(std::string path) : path_(std::move(path)), growing_(path_ + ".part-" + std::to_string(::getpid())) {}
  ~growing_file() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    if (is_beside_) ::unlink(growing_.c_str());
  }
  growing_file(const growing_file&) = delete;
  growing_file& operator=(const growing_file&) = delete;

  result<void> open() {
    struct stat known{};
    is_beside_ = ::stat(path_.c_str(), &known) != 0 || S_ISREG(known.st_mode);
    if (!is_beside_) {
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor_ < 0) return unable("written");
      return {};
    }
    descriptor_ = ::open(growing_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return unable("written");
    return {};
  }
  result<void> write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return unable("written");
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
  }
  result<void> finish() {
    const bool is_written = ::close(std::exchange(descriptor_, -1)) == 0;
    if (is_written && (!is_beside_ || ::rename(growing_.c_str(), path_.c_str()) == 0)) return {};
    auto why = unable("completed");
    if (is_beside_) ::unlink(growing_.c_str());
    return why;
  }

 private:
  [[nodiscard]] tl::unexpected<failure> unable(const char* what) const {
    return fail(errc::invalid_argument, "The file " + path_ + " could not be " + what + ": " + std::strerror(errno) + ".");
  }
  std::string path_;
  std::string growing_;
  bool is_beside_ = true;
  int descriptor_ = -1;
};

/// The URI of a template of the server's that gives lines of `uri`; empty: there is none.
std::string uri_of_lines(const task& what, const std::string& uri, const std::string& lines) {
  for (const auto& one : what.with.server().templates(what.with.how())) {
    if (!one) return {};
    const auto compiled = uri_template::compile(one->uriTemplate);
    if (!compiled) continue;
    const auto& names = compiled->variables();
    if (std::find(names.begin(), names.end(), "lines") == names.end()) continue;
    auto values = compiled->match(uri);
    if (!values) continue;
    values->insert_or_assign("lines", lines);
    if (auto expanded = compiled->expand(*values)) return std::move(*expanded);
  }
  return {};
}

/// What was typed: a URI, a path, or a template to be expanded with `--with`.
result<std::string> asked_uri(const task& what) {
  const auto typed = what.line.word(0);
  const auto& given = what.line.all(with_flag);
  const auto compiled = uri_template::compile(typed);
  std::string names;
  if (compiled) {
    for (const auto& one : compiled->variables()) names += (names.empty() ? "" : ", ") + one;
  }
  if (given.empty() && names.empty()) return what.with.uri_of(typed);
  if (given.empty())
    return fail(errc::invalid_argument, "This is a template; give its variables with --with NAME=VALUE: " + names + ".");
  uri_template_values values;
  for (const auto& one : given) {
    const auto equals = one.find('=');
    if (equals == std::string::npos) return fail(errc::invalid_argument, "--with is NAME=VALUE, not \"" + one + '"');
    const auto name = one.substr(0, equals);
    const auto& known = compiled ? compiled->variables() : std::vector<std::string>();
    if (compiled && std::find(known.begin(), known.end(), name) == known.end())
      return fail(errc::invalid_argument,
                  "The template has no variable \"" + name + "\"; it has: " + (names.empty() ? "none" : names) + ".");
    values.insert_or_assign(name, one.substr(equals + 1));
  }
  return client::expand(typed, values);
}

int print_json(const read_answer& got) {
  std::string text;
  json::writer to(text);
  to.begin_object().key("contents").begin_array();
  for (const auto& one : got.items) {
    to.begin_object().member("uri", one.uri).member_if("name", one.name).member_if("title", one.title);
    to.member_if("mimeType", one.mimeType).member_if("version", one.version);
    to.key("size").unsigned_integer(one.size);
    if (one.is_text) {
      to.member("text", one.bytes);
    } else {
      std::string blob;
      json::append_base64(blob, one.bytes);
      to.member("blob", blob);
    }
    to.end_object();
  }
  to.end_array().end_object();
  print(visible_json(text) + '\n');
  return exit_ok;
}

/// Where the bytes of one read go.
class destination {
 public:
  destination(const task& what, std::optional<line_range> lines)
      : what_(what),
        shown_(what.shown.shows_errors && !what.line.has(quiet_flag), progress_line::unit::bytes, what.shown.width) {
    lines_ = lines;
    if (lines) cutter_.emplace(*lines);
    if (what.line.has(output_flag)) file_.emplace(what.line.text(output_flag));
  }
  result<void> open() { return file_ ? file_->open() : result<void>(); }
  result<void> take(std::size_t item, std::string_view bytes) {
    if (item != item_) {
      // Each item has lines and characters of its own.
      item_ = item;
      is_first_ = true;
      if (lines_) cutter_.emplace(*lines_);
      print(filter_.rest());
    }
    shown_.advance(bytes.size());
    std::string cut;
    if (cutter_) {
      if (is_first_ && !looks_like_text(bytes)) return fail(errc::invalid_argument, "This is binary and has no lines.");
      is_first_ = is_first_ && bytes.empty();
      cut = cutter_->pass(bytes);
      bytes = cut;
    }
    if (auto done = give(bytes); !done) return done;
    // The rest is not asked for: the call ends here, and `has_enough` says that nothing is wrong.
    if (cutter_ && cutter_->is_over()) return fail(errc::cancelled, "all lines have come");
    return {};
  }
  [[nodiscard]] bool has_enough() const { return cutter_ && cutter_->is_over(); }
  result<void> give(std::string_view bytes) {
    if (bytes.empty()) return {};
    if (file_) return file_->write(bytes);
    const bool is_for_people = what_.shown.shows_output && !what_.line.has(force_flag);
    if (is_for_people && is_first_ && !looks_like_text(bytes))
      return fail(errc::invalid_argument,
                  "This is binary, which a terminal may take for commands. Write it to a file with -o FILE, or use --force.");
    is_first_ = false;
    print(is_for_people ? filter_.pass(bytes) : std::string(bytes));
    if (output_is_gone()) return fail(errc::cancelled, "whoever read the output stopped");
    return {};
  }
  result<void> finish() {
    if (!file_) {
      print(filter_.rest());
      return {};
    }
    return file_->finish();
  }

 private:
  const task& what_;
  progress_line shown_;
  std::optional<line_range> lines_;
  std::optional<line_cutter> cutter_;
  std::optional<growing_file> file_;
  text_filter filter_;
  std::size_t item_ = 0;
  bool is_first_ = true;
};

result<void> read_into(const task& what, const std::string& uri, destination& into) {
  const auto take = [&into](std::size_t item, std::string_view bytes) { return into.take(item, bytes); };
  // What is handed on as it comes is in no message; a trace is of whole ones, where they can be held.
  if (what.line.has(trace_flag)) {
    auto got = what.with.server().read(uri, what.with.how());
    if (!got && got.error().code != errc::response_too_large) return tl::unexpected(std::move(got.error()));
    for (std::size_t i = 0; got && i < got->items.size(); ++i) {
      if (auto taken = take(i, got->items[i].bytes); !taken) return taken;
    }
    if (got) return {};
  }
  auto done = what.with.server().read_to(uri, take, what.with.how());
  return done ? result<void>() : tl::unexpected(std::move(done.error()));
}

}  // namespace

int read_resource(const task& what) {
  auto uri = asked_uri(what);
  if (!uri) return what.with.explain(uri.error());
  std::optional<line_range> lines;
  if (what.line.has(lines_flag)) {
    auto range = range_of(what.line.text(lines_flag));
    if (!range) return what.with.explain(range.error());
    if (auto part = uri_of_lines(what, *uri, what.line.text(lines_flag)); !part.empty()) {
      *uri = std::move(part);
    } else {
      lines = *range;
    }
  }
  if (what.line.has(json_flag)) {
    auto got = what.with.server().read(*uri, what.with.how());
    if (!got) return what.with.explain(got.error());
    if (lines) {
      for (auto& one : got->items) one.bytes = line_cutter(*lines).pass(one.bytes);
    }
    return print_json(*got);
  }
  destination into(what, lines);
  if (auto opened = into.open(); !opened) return what.with.explain(opened.error());
  auto got = read_into(what, *uri, into);
  if (output_is_gone()) return exit_ok;  // finish_output says how it ended
  if (!got && !into.has_enough()) return what.with.explain(got.error());
  if (auto done = into.finish(); !done) return what.with.explain(done.error());
  return exit_ok;
}

}  // namespace hondana::cli
