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
#include "app/cli/target.hpp"
#include "app/cli/terminal/quantities.hpp"
#include "app/cli/terminal/terminal_info.hpp"
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
class atomic_file {
 public:
  explicit atomic_file(std::string path);
  ~atomic_file();
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;

  [[nodiscard]] result<void> open();
  [[nodiscard]] result<void> write(std::string_view bytes);
  [[nodiscard]] result<void> finish();

 private:
  [[nodiscard]] tl::unexpected<failure> write_error(const char* action) const;

  std::string path_;
  std::string temporary_path_;
  bool uses_temporary_ = true;
  disk::handle file_;
};

atomic_file::atomic_file(std::string path)
    : path_(std::move(path)), temporary_path_(path_ + ".part-" + std::to_string(::getpid())) {}

atomic_file::~atomic_file() {
  if (file_.is_open() && uses_temporary_) ::unlink(temporary_path_.c_str());
}

result<void> atomic_file::open() {
  struct stat attributes{};
  uses_temporary_ = ::stat(path_.c_str(), &attributes) != 0 || S_ISREG(attributes.st_mode);
  file_ = disk::handle(uses_temporary_ ? ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                                       : ::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file_.is_open()) return write_error("written");
  return {};
}

result<void> atomic_file::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return write_error("written");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

result<void> atomic_file::finish() {
  const bool is_closed = ::close(file_.release()) == 0;
  if (is_closed && (!uses_temporary_ || ::rename(temporary_path_.c_str(), path_.c_str()) == 0)) return {};
  auto error = write_error("completed");
  if (uses_temporary_) ::unlink(temporary_path_.c_str());
  return error;
}

tl::unexpected<failure> atomic_file::write_error(const char* action) const {
  return fail(errc::invalid_argument, "The file " + path_ + " could not be " + action + ": " + std::strerror(errno) + ".");
}

/// Line numbers from 1, both included.
struct line_range {
  std::uint64_t first = 1;
  std::uint64_t last = UINT64_MAX;
};

/// Parses "2-5", "2-" or "2". Errors: invalid_argument.
[[nodiscard]] result<line_range> parse_line_range(const std::string& text);

/// Passes the lines of a range on. Memory use does not depend on the length of the text.
class line_filter {
 public:
  explicit line_filter(line_range range) : range_(range) {}
  /// Whether no further line can be in the range.
  [[nodiscard]] bool is_finished() const noexcept { return line_ > range_.last; }
  [[nodiscard]] std::string feed(std::string_view chunk);

 private:
  line_range range_;
  std::uint64_t line_ = 1;
};

result<line_range> parse_line_range(const std::string& text) {
  line_range out;
  const auto dash = text.find('-');
  const auto number = [](std::string_view digits, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() && value > 0;
  };
  const std::string_view view(text);
  bool is_valid = number(view.substr(0, dash), out.first);
  if (dash == std::string::npos) {
    out.last = out.first;
  } else if (dash + 1 < text.size()) {
    is_valid = is_valid && number(view.substr(dash + 1), out.last) && out.first <= out.last;
  }
  if (is_valid) return out;
  return fail(errc::invalid_argument, "--lines is A-B, A- or A, counted from 1, not \"" + text + '"');
}

std::string line_filter::feed(std::string_view chunk) {
  std::string out;
  while (!chunk.empty() && line_ <= range_.last) {
    const auto end = chunk.find('\n');
    const auto part = chunk.substr(0, end == std::string_view::npos ? end : end + 1);
    if (line_ >= range_.first) out += part;
    chunk.remove_prefix(part.size());
    if (end != std::string_view::npos) ++line_;
  }
  return out;
}

namespace {

/// Limit in bytes for buffered contents after the first one.
constexpr std::size_t max_buffered_bytes = 64u << 20;

/// The URI that reads only `lines` of `uri`, from one of the server's templates; empty if the server has none.
std::string find_lines_uri(const command_context& context, const std::string& uri, const std::string& lines) {
  for (const auto& entry : context.connection.mcp_client().templates(context.connection.make_call_options())) {
    if (!entry) return {};
    const auto compiled = uri_template::compile(entry->uri_template);
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

/// Whether a variable is a parameter of the query that a URI can lack: `{?name}` or `{&name}`.
bool is_optional(const uri_template& compiled, const std::string& variable) {
  const auto bare_uri = compiled.expand({});
  const auto full_uri = compiled.expand({{variable, std::string("x")}});
  const auto contains = [](const result<std::string>& uri, const std::string& text) {
    return uri && uri->find(text) != std::string::npos;
  };
  return !contains(bare_uri, variable + '=') &&
         (contains(full_uri, '?' + variable + "=x") || contains(full_uri, '&' + variable + "=x"));
}

/// The error for a template without values, which shows the command that gives them. `word`: its name, or the template itself.
failure missing_values(const command_context& context, const std::string& word, const uri_template& compiled) {
  std::string required;
  std::string optional;
  std::string assignments;
  for (const auto& variable : compiled.variables()) {
    const bool may_lack = is_optional(compiled, variable);
    auto& names = may_lack ? optional : required;
    names += (names.empty() ? "" : ", ") + variable;
    if (!may_lack) assignments += " --with " + shell_quote(variable + "=VALUE");
  }
  if (assignments.empty()) assignments = " --with " + shell_quote(compiled.variables().front() + "=VALUE");
  auto text = '"' + word + "\" is a URI template" + (word == compiled.text() ? "" : ", " + compiled.text()) + ". ";
  if (!required.empty()) text += "It needs values for: " + required + ". ";
  if (!optional.empty()) text += "Optional variables: " + optional + ". ";
  return {errc::invalid_argument,
          text + "Read it with " + suggest_command(context.line, "read " + shell_quote(word) + assignments),
          {}};
}

/// The listed URI that differs from `uri` only in final slashes or in the case of letters: log://app/ for log://app.
std::optional<std::string> find_similar_uri(client& client, const std::string& uri, const call_options& options) {
  const auto without_slash = [](std::string_view text) {
    while (text.ends_with('/')) text.remove_suffix(1);
    return text;
  };
  const auto is_similar = [&](std::string_view candidate) {
    return ascii::equals_ignore_case(without_slash(candidate), without_slash(uri));
  };
  std::vector<std::string> prefixes{std::string(without_slash(uri))};
  for (const auto& entry : client.templates(options)) {
    const auto compiled = entry ? uri_template::compile(entry->uri_template) : tl::unexpected(entry.error());
    if (compiled && is_similar(compiled->literal_prefix())) prefixes.emplace_back(compiled->literal_prefix());
  }
  constexpr std::size_t max_compared = 100;  // a similar URI is among the first with its prefix
  for (auto& prefix : prefixes) {
    entry_filter filter;
    filter.uri_prefix = std::move(prefix);
    std::size_t compared = 0;
    for (const auto& entry : client.resources(filter, options)) {
      if (!entry || ++compared > max_compared) break;
      if (entry->uri != uri && is_similar(entry->uri)) return entry->uri;
    }
  }
  return std::nullopt;
}

/// Adds what the user may have meant to the error for a resource that was not found: the template of this name, or a similar
/// URI. `uri`: what was read; empty if the typed word names no resource.
failure explain_missing(const command_context& context, const std::string& uri, failure error) {
  auto& client = context.connection.mcp_client();
  const auto options = context.connection.make_call_options();
  const auto word = context.line.word(0);
  if (error.code != errc::resource_not_found || context.line.has(with_flag)) return error;
  if (!has_scheme(word)) {
    const auto named = word.find('{') == std::string::npos ? find_template(client, word, options) : fail(error.code, {});
    if (!named) return named.error().code == errc::invalid_argument ? named.error() : error;
    const auto compiled = uri_template::compile(*named);
    return compiled && !compiled->variables().empty() ? missing_values(context, word, *compiled) : error;
  }
  // Only lists of hondana can be filtered by the server.
  if (!client.server().has_versions) return error;
  if (const auto similar = find_similar_uri(client, uri, options))
    error.public_text += (error.public_text.ends_with('.') ? " Did you mean " : ". Did you mean ") + *similar + '?';
  return error;
}

/// The URI for the typed word: a URI, a name, a path, or a template that `--with` expands.
result<std::string> requested_uri(const command_context& context) {
  auto typed = context.line.word(0);
  const auto assignments = parse_variables(context.line);
  if (!assignments) return tl::unexpected(assignments.error());
  if (!assignments->empty()) {
    auto named = find_template(context.connection.mcp_client(), typed, context.connection.make_call_options());
    if (!named) return named;
    typed = std::move(*named);
  }
  const auto compiled = uri_template::compile(typed);
  const auto variables = compiled ? compiled->variables() : std::vector<std::string>();
  std::string names;
  for (const auto& variable : variables) names += (names.empty() ? "" : ", ") + variable;
  // File names may contain braces; templates begin with a scheme.
  if (assignments->empty() && (names.empty() || !has_scheme(typed))) return context.connection.resolve_uri(typed);
  if (assignments->empty()) return tl::unexpected(missing_values(context, typed, *compiled));
  uri_template_values values;
  for (const auto& [name, text] : *assignments) {
    if (compiled && std::find(variables.begin(), variables.end(), name) == variables.end())
      return fail(errc::invalid_argument,
                  "The template has no variable \"" + name + "\"; it has: " + (names.empty() ? "none" : names) + ".");
    values.insert_or_assign(name, text);
  }
  return client::expand(typed, values);
}

void write_content(json::writer& writer, const received_content& content) {
  writer.begin_object().member("uri", content.uri).member_if("name", content.name).member_if("title", content.title);
  writer.member_if("mimeType", content.mime_type).member_if("version", content.version);
  writer.key("size").unsigned_integer(content.size);
  if (content.is_text) {
    writer.member("text", content.bytes);
  } else {
    std::string blob;
    json::append_base64(blob, content.bytes);
    writer.member("blob", blob);
  }
  if (content.meta) writer.key("_meta").raw(content.meta->to_text());
  writer.end_object();
}

/// Reports that the server has masked secrets in the content.
void report_masked(const command_context& context, const std::vector<received_content>& contents) {
  std::int64_t count = 0;
  for (const auto& content : contents) {
    const auto* masked = content.meta ? content.meta->find("dev.hondana/redacted") : nullptr;
    count += masked != nullptr ? masked->as_integer().value_or(0) : 0;
  }
  if (count <= 0 || context.line.has(quiet_flag)) return;
  print_message("masked: " + std::to_string(count) + (count == 1 ? " secret" : " secrets") +
                "; to show them, set `redact = false` in the server's [[source]]");
}

/// Reports that the content comes from a cache because its source was unavailable.
void report_cached(const command_context& context, const std::vector<received_content>& contents) {
  if (context.line.has(quiet_flag)) return;
  if (const auto message = cached_notice(contents); !message.empty()) print_message(message);
}

/// Whether the source converts documents to text. Its resources may have the original file as a second content, or one text for
/// each sheet.
bool is_document_scheme(std::string_view scheme) {
  const auto lower = ascii::to_lower(scheme);
  return lower == "docs" || lower == "gdrive" || lower.starts_with("gdrive-");
}

bool is_whole_document(const std::string& uri) {
  const auto parts = split_uri(uri);
  return is_document_scheme(parts.scheme) && !parts.query;
}

/// The output of one read: standard output or a file.
class read_output {
 public:
  read_output(const command_context& context, const std::string& uri, std::optional<line_range> lines)
      : context_(context),
        may_have_original_(is_whole_document(uri)),
        progress_(context.terminal.is_stderr_tty && !context.line.has(quiet_flag), progress_line::unit::bytes,
                  context.terminal.width) {
    lines_ = lines;
    if (lines) line_filter_.emplace(*lines);
    if (const auto file = context.line.text(output_flag); !file.empty() && file != "-") file_.emplace(file);
  }
  result<void> open() { return file_ ? file_->open() : result<void>(); }
  /// Buffers contents after the first one until `write_buffered`, which knows their types. A second content that is too large
  /// can only be the original file, whose bytes are not needed.
  result<void> receive(std::size_t index, std::string_view bytes) {
    if (index == 0 || !may_have_original_) return process(index, bytes);
    if (buffered_.size() < index) buffered_.resize(index);
    if (index == 1 && (is_dropped_ || buffered_bytes_ + bytes.size() > max_buffered_bytes)) {
      is_dropped_ = true;
      buffered_bytes_ -= std::exchange(buffered_[0], {}).size();
      return {};
    }
    if (buffered_bytes_ + bytes.size() > max_buffered_bytes) return too_large_error();
    buffered_bytes_ += bytes.size();
    buffered_[index - 1] += bytes;
    return {};
  }
  /// Writes the buffered contents, except for the original file of a document.
  result<void> write_buffered(const std::vector<received_content>& contents) {
    for (std::size_t i = 1; i < contents.size() && i <= buffered_.size(); ++i) {
      const auto& content = contents[i];
      // Do not compare whole URIs: the document may have been requested by id while this URI uses a path.
      const bool is_original = contents.front().is_text && !content.is_text && content.uri.ends_with("?format=original");
      if (i == 1 && is_dropped_ && !is_original) return too_large_error();
      if (is_original) {
        if (!context_.line.has(quiet_flag))
          print_message("not written: the original file (" + sanitize_line(content.mime_type) + ", " +
                        human_size(content.size) + "); --original writes it");
        continue;
      }
      if (contents[i - 1].is_text && content.is_text && !line_filter_) {
        // Separate texts such as sheets by an empty line.
        HONDANA_TRY(write(last_ == '\n' ? "\n" : "\n\n"));
      }
      HONDANA_TRY(process(i, buffered_[i - 1]));
    }
    return {};
  }
  result<void> process(std::size_t index, std::string_view bytes) {
    if (index != index_) {
      // Lines and incomplete characters do not continue across items.
      index_ = index;
      is_first_ = true;
      if (lines_) line_filter_.emplace(*lines_);
      print(text_filter_.finish());
    }
    progress_.advance(bytes.size());
    std::string cut;
    if (line_filter_) {
      if (is_first_ && !looks_like_text(bytes)) return fail(errc::invalid_argument, "The resource is binary and has no lines.");
      is_first_ = is_first_ && bytes.empty();
      cut = line_filter_->feed(bytes);
      bytes = cut;
    }
    HONDANA_TRY(write(bytes));
    // No further content is needed: end the call. `has_enough` tells the caller that this is not a failure.
    if (line_filter_ && line_filter_->is_finished()) return fail(errc::cancelled, "all lines have come");
    return {};
  }
  [[nodiscard]] bool has_enough() const { return line_filter_ && line_filter_->is_finished(); }
  result<void> write(std::string_view bytes) {
    if (bytes.empty()) return {};
    last_ = bytes.back();
    if (file_) return file_->write(bytes);
    const bool is_for_terminal = context_.terminal.is_stdout_tty && !context_.line.has(force_flag);
    if (is_for_terminal && is_first_ && !looks_like_text(bytes))
      return fail(errc::invalid_argument,
                  "The resource is binary, and a terminal may take its bytes for commands. Write it to a file with -o FILE, or "
                  "use --force.");
    is_first_ = false;
    print(is_for_terminal ? text_filter_.feed(bytes) : std::string(bytes));
    if (is_output_closed()) return fail(errc::cancelled, "the reader of the output stopped");
    return {};
  }
  result<void> finish() {
    if (!file_) {
      print(text_filter_.finish());
      return {};
    }
    return file_->finish();
  }

 private:
  static tl::unexpected<failure> too_large_error() {
    return fail(errc::response_too_large, "The resource has several large contents. --json prints all of them.");
  }
  const command_context& context_;
  const bool may_have_original_;
  progress_line progress_;
  std::optional<line_range> lines_;
  std::optional<line_filter> line_filter_;
  std::optional<atomic_file> file_;
  text_filter text_filter_;
  std::size_t index_ = 0;
  bool is_first_ = true;
  char last_ = '\n';  // last byte written
  std::vector<std::string> buffered_;
  std::size_t buffered_bytes_ = 0;
  bool is_dropped_ = false;  // the second content, because it is too large to buffer
};

/// The URI of a document's original file. Errors: invalid_argument.
result<std::string> original_uri(const std::string& uri) {
  const auto parts = split_uri(uri);
  if (is_document_scheme(parts.scheme) && !parts.query) return uri + "?format=original";
  if (is_document_scheme(parts.scheme) && parts.query == "format=original") return uri;
  return fail(errc::invalid_argument,
              "--original works only for whole documents of sources of type docs or gdrive, such as docs://SET/PATH, not for " +
                  uri + '.');
}

}  // namespace

int read_resource(const command_context& context) {
  if (context.line.has(json_flag) && context.line.has(output_flag))
    return context.connection.report_failure(
        {errc::invalid_argument, "--json and --output exclude each other: give one of them.", {}});
  auto uri = requested_uri(context);
  if (uri && context.line.has(original_flag)) uri = original_uri(*uri);
  if (!uri) return context.connection.report_failure(explain_missing(context, {}, uri.error()));
  const auto report_unreadable = [&](const failure& error) {
    const bool reports_reasons = context.connection.mcp_client().server().has_versions;
    return context.connection.report_failure(explain_missing(context, *uri, explain_read_error(*uri, error, reports_reasons)));
  };
  std::optional<line_range> lines;
  if (context.line.has(lines_flag)) {
    auto range = parse_line_range(context.line.text(lines_flag));
    if (!range) return context.connection.report_failure(range.error());
    if (auto part = find_lines_uri(context, *uri, context.line.text(lines_flag)); !part.empty()) {
      *uri = std::move(part);
    } else {
      lines = *range;
    }
  }
  if (context.line.has(json_flag)) {
    auto response = context.connection.mcp_client().read(*uri, context.connection.make_call_options());
    if (!response) return report_unreadable(response.error());
    if (lines) {
      for (auto& content : response->contents) content.bytes = line_filter(*lines).feed(content.bytes);
    }
    print_list("contents", response->contents, write_content);
    report_masked(context, response->contents);
    report_cached(context, response->contents);
    return exit_ok;
  }
  read_output output(context, *uri, lines);
  if (auto opened = output.open(); !opened) return context.connection.report_failure(opened.error());
  auto response = context.connection.read_to(
      *uri, [&output](std::size_t index, std::string_view bytes) { return output.receive(index, bytes); });
  if (is_output_closed()) return exit_ok;  // finish_output chooses the exit code
  if (!response && !output.has_enough()) return report_unreadable(response.error());
  if (response) {
    if (auto status = output.write_buffered(response->contents); !status && !output.has_enough())
      return context.connection.report_failure(status.error());
  }
  if (auto status = output.finish(); !status) return context.connection.report_failure(status.error());
  if (response) {
    report_masked(context, response->contents);
    report_cached(context, response->contents);
  }
  return exit_ok;
}

}  // namespace hondana::cli
