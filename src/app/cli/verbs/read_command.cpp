/// `hondana read`: writes a resource to a terminal, a pipe or a file.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/uri.hpp>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/terminal/quantities.hpp"
#include "app/cli/terminal/screen.hpp"
#include "app/cli/verbs/commands.hpp"
#include "app/cli/verbs/entry_output.hpp"
#include "app/cli/verbs/typed_words.hpp"
#include "base/ascii/ascii.hpp"
#include "base/json/base64.hpp"
#include "base/json/writer.hpp"
#include "os/disk/file_descriptor.hpp"

namespace hondana::cli {

/// A file that appears under its name only when it is complete. An existing device or pipe is written to directly and never
/// replaced. Errors of all calls: invalid_argument.
class growing_file {
 public:
  explicit growing_file(std::string path);
  ~growing_file();
  growing_file(const growing_file&) = delete;
  growing_file& operator=(const growing_file&) = delete;

  [[nodiscard]] result<void> open();
  [[nodiscard]] result<void> write(std::string_view bytes);
  [[nodiscard]] result<void> finish();

 private:
  [[nodiscard]] tl::unexpected<failure> unable(const char* what) const;

  std::string path_;
  std::string growing_;
  bool is_beside_ = true;
  disk::handle file_;
};

growing_file::growing_file(std::string path)
    : path_(std::move(path)), growing_(path_ + ".part-" + std::to_string(::getpid())) {}

growing_file::~growing_file() {
  if (file_.is_open() && is_beside_) ::unlink(growing_.c_str());
}

result<void> growing_file::open() {
  struct stat known{};
  is_beside_ = ::stat(path_.c_str(), &known) != 0 || S_ISREG(known.st_mode);
  file_ = disk::handle(is_beside_ ? ::open(growing_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                                  : ::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file_.is_open()) return unable("written");
  return {};
}

result<void> growing_file::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unable("written");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

result<void> growing_file::finish() {
  const bool is_written = ::close(file_.release()) == 0;
  if (is_written && (!is_beside_ || ::rename(growing_.c_str(), path_.c_str()) == 0)) return {};
  auto why = unable("completed");
  if (is_beside_) ::unlink(growing_.c_str());
  return why;
}

tl::unexpected<failure> growing_file::unable(const char* what) const {
  return fail(errc::invalid_argument, "The file " + path_ + " could not be " + what + ": " + std::strerror(errno) + ".");
}

/// Line numbers from 1, both included.
struct line_range {
  std::uint64_t first = 1;
  std::uint64_t last = UINT64_MAX;
};

/// Parses "2-5", "2-" or "2". Errors: invalid_argument.
[[nodiscard]] result<line_range> range_of(const std::string& text);

/// Passes the lines of a range on. Memory use does not depend on the length of the text.
class line_cutter {
 public:
  explicit line_cutter(line_range range) : range_(range) {}
  /// Whether no further line can be in the range.
  [[nodiscard]] bool is_over() const noexcept { return line_ > range_.last; }
  [[nodiscard]] std::string pass(std::string_view piece);

 private:
  line_range range_;
  std::uint64_t line_ = 1;
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

std::string line_cutter::pass(std::string_view piece) {
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

namespace {

/// Limit in bytes for buffered contents after the first one.
constexpr std::size_t most_kept = 64u << 20;

/// The URI that reads only `lines` of `uri`, from one of the server's templates; empty if the server has none.
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

/// The URI for the typed word: a URI, a name, a path, or a template that `--with` expands.
result<std::string> asked_uri(const task& what) {
  auto typed = what.line.word(0);
  const auto given = given_values(what.line);
  if (!given) return tl::unexpected(given.error());
  if (!given->empty()) {
    auto named = template_named(what.with.server(), typed, what.with.how());
    if (!named) return named;
    typed = std::move(*named);
  }
  const auto compiled = uri_template::compile(typed);
  const auto variables = compiled ? compiled->variables() : std::vector<std::string>();
  std::string names;
  for (const auto& one : variables) names += (names.empty() ? "" : ", ") + one;
  // File names may contain braces; templates begin with a scheme.
  if (given->empty() && (names.empty() || !has_scheme(typed))) return what.with.uri_of(typed);
  if (given->empty())
    return fail(errc::invalid_argument, "This is a URI template. Give its variables with --with NAME=VALUE: " + names + ".");
  uri_template_values values;
  for (const auto& [name, text] : *given) {
    if (compiled && std::find(variables.begin(), variables.end(), name) == variables.end())
      return fail(errc::invalid_argument,
                  "The template has no variable \"" + name + "\"; it has: " + (names.empty() ? "none" : names) + ".");
    values.insert_or_assign(name, text);
  }
  return client::expand(typed, values);
}

void write_item(json::writer& to, const read_item& one) {
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
  if (!one.meta.is_null()) to.key("_meta").raw(one.meta.to_text());
  to.end_object();
}

/// Reports that the server has masked secrets in the content.
void tell_masked(const task& what, const std::vector<read_item>& items) {
  std::int64_t count = 0;
  for (const auto& one : items) {
    const auto* masked = one.meta.find("dev.hondana/redacted");
    count += masked != nullptr ? masked->as_integer().value_or(0) : 0;
  }
  if (count <= 0 || what.line.has(quiet_flag)) return;
  say("masked: " + std::to_string(count) + (count == 1 ? " secret" : " secrets") +
      "; to show them, set `redact = false` in the server's [[source]]");
}

/// Reports that the content comes from a cache because its source was unavailable.
void tell_kept(const task& what, const std::vector<read_item>& items) {
  if (what.line.has(quiet_flag)) return;
  if (const auto told = told_of_kept(items); !told.empty()) say(told);
}

/// Whether the source converts documents to text. Its resources may have the original file as a second content, or one text for
/// each sheet.
bool is_of_documents(std::string_view scheme) {
  const auto plain = ascii::in_lower_case(scheme);
  return plain == "docs" || plain == "gdrive" || plain.starts_with("gdrive-");
}

bool is_whole_document(const std::string& uri) {
  const auto parts = split_uri(uri);
  return is_of_documents(parts.scheme) && !parts.query;
}

/// The output of one read: standard output or a file.
class destination {
 public:
  destination(const task& what, const std::string& uri, std::optional<line_range> lines)
      : what_(what),
        may_have_original_(is_whole_document(uri)),
        shown_(what.shown.shows_errors && !what.line.has(quiet_flag), progress_line::unit::bytes, what.shown.width) {
    lines_ = lines;
    if (lines) cutter_.emplace(*lines);
    if (const auto file = what.line.text(output_flag); !file.empty() && file != "-") file_.emplace(file);
  }
  result<void> open() { return file_ ? file_->open() : result<void>(); }
  /// Buffers contents after the first one until `take_later`, which knows their types. A second content that is too large can
  /// only be the original file, whose bytes are not needed.
  result<void> take(std::size_t item, std::string_view bytes) {
    if (item == 0 || !may_have_original_) return pass(item, bytes);
    if (later_.size() < item) later_.resize(item);
    if (item == 1 && (is_dropped_ || kept_ + bytes.size() > most_kept)) {
      is_dropped_ = true;
      kept_ -= std::exchange(later_[0], {}).size();
      return {};
    }
    if (kept_ + bytes.size() > most_kept) return too_much();
    kept_ += bytes.size();
    later_[item - 1] += bytes;
    return {};
  }
  /// Writes the buffered contents, except for the original file of a document.
  result<void> take_later(const std::vector<read_item>& items) {
    for (std::size_t i = 1; i < items.size() && i <= later_.size(); ++i) {
      const auto& one = items[i];
      // Do not compare whole URIs: the document may have been requested by id while this URI uses a path.
      const bool is_original = items.front().is_text && !one.is_text && one.uri.ends_with("?format=original");
      if (i == 1 && is_dropped_ && !is_original) return too_much();
      if (is_original) {
        if (!what_.line.has(quiet_flag))
          say("not written: the original file (" + visible_in_line(one.mimeType) + ", " + human_size(one.size) +
              "); --original writes it");
        continue;
      }
      if (items[i - 1].is_text && one.is_text && !cutter_) {
        // Separate texts such as sheets by an empty line.
        HONDANA_TRY(give(last_ == '\n' ? "\n" : "\n\n"));
      }
      HONDANA_TRY(pass(i, later_[i - 1]));
    }
    return {};
  }
  result<void> pass(std::size_t item, std::string_view bytes) {
    if (item != item_) {
      // Lines and incomplete characters do not continue across items.
      item_ = item;
      is_first_ = true;
      if (lines_) cutter_.emplace(*lines_);
      print(filter_.rest());
    }
    shown_.advance(bytes.size());
    std::string cut;
    if (cutter_) {
      if (is_first_ && !looks_like_text(bytes)) return fail(errc::invalid_argument, "The resource is binary and has no lines.");
      is_first_ = is_first_ && bytes.empty();
      cut = cutter_->pass(bytes);
      bytes = cut;
    }
    HONDANA_TRY(give(bytes));
    // No further content is needed: end the call. `has_enough` tells the caller that this is not a failure.
    if (cutter_ && cutter_->is_over()) return fail(errc::cancelled, "all lines have come");
    return {};
  }
  [[nodiscard]] bool has_enough() const { return cutter_ && cutter_->is_over(); }
  result<void> give(std::string_view bytes) {
    if (bytes.empty()) return {};
    last_ = bytes.back();
    if (file_) return file_->write(bytes);
    const bool is_for_people = what_.shown.shows_output && !what_.line.has(force_flag);
    if (is_for_people && is_first_ && !looks_like_text(bytes))
      return fail(errc::invalid_argument,
                  "The resource is binary, and a terminal may take its bytes for commands. Write it to a file with -o FILE, or "
                  "use --force.");
    is_first_ = false;
    print(is_for_people ? filter_.pass(bytes) : std::string(bytes));
    if (output_is_gone()) return fail(errc::cancelled, "the reader of the output stopped");
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
  static tl::unexpected<failure> too_much() {
    return fail(errc::response_too_large, "The resource has several large contents. --json prints all of them.");
  }
  const task& what_;
  const bool may_have_original_;
  progress_line shown_;
  std::optional<line_range> lines_;
  std::optional<line_cutter> cutter_;
  std::optional<growing_file> file_;
  text_filter filter_;
  std::size_t item_ = 0;
  bool is_first_ = true;
  char last_ = '\n';  // last byte written
  std::vector<std::string> later_;
  std::size_t kept_ = 0;
  bool is_dropped_ = false;  // the second content, because it is too large to buffer
};

/// The URI of a document's original file. Errors: invalid_argument.
result<std::string> uri_of_original(const std::string& uri) {
  const auto parts = split_uri(uri);
  if (is_of_documents(parts.scheme) && !parts.query) return uri + "?format=original";
  if (is_of_documents(parts.scheme) && parts.query == "format=original") return uri;
  return fail(errc::invalid_argument,
              "--original works only for whole documents of sources of type docs or gdrive, such as docs://SET/PATH, not for " +
                  uri + '.');
}

}  // namespace

int read_resource(const task& what) {
  if (what.line.has(json_flag) && what.line.has(output_flag))
    return what.with.explain({errc::invalid_argument, "--json and --output exclude each other: give one of them.", {}});
  auto uri = asked_uri(what);
  if (uri && what.line.has(original_flag)) uri = uri_of_original(*uri);
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
    if (!got) return what.with.explain(why_not_read(*uri, got.error(), what.with.server().server().has_versions));
    if (lines) {
      for (auto& one : got->items) one.bytes = line_cutter(*lines).pass(one.bytes);
    }
    print_list("contents", got->items, write_item);
    tell_masked(what, got->items);
    tell_kept(what, got->items);
    return exit_ok;
  }
  destination into(what, *uri, lines);
  if (auto opened = into.open(); !opened) return what.with.explain(opened.error());
  auto got = what.with.read_to(*uri, [&into](std::size_t item, std::string_view bytes) { return into.take(item, bytes); });
  if (output_is_gone()) return exit_ok;  // finish_output chooses the exit code
  if (!got && !into.has_enough())
    return what.with.explain(why_not_read(*uri, got.error(), what.with.server().server().has_versions));
  if (got) {
    if (auto done = into.take_later(got->items); !done && !into.has_enough()) return what.with.explain(done.error());
  }
  if (auto done = into.finish(); !done) return what.with.explain(done.error());
  if (got) {
    tell_masked(what, got->items);
    tell_kept(what, got->items);
  }
  return exit_ok;
}

}  // namespace hondana::cli
