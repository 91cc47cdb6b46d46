/// Contents of every form, templates, failures.
#include "transcripts/demo_server.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/memory_provider.hpp>

#include "sources/links/links_provider.hpp"
#include "support/must.hpp"
#include "transcripts/entries.hpp"

namespace transcripts {
namespace {

using hondana::complete_request;
using hondana::complete_result;
using hondana::errc;
using hondana::fail;
using hondana::memory_provider;
using hondana::read_request;
using hondana::read_result;
using hondana::resource;
using hondana::resource_content;
using hondana::result;

using provider_ptr = std::shared_ptr<memory_provider>;

/// Gives a pattern of letters, a piece at a time.
class letters final : public hondana::byte_reader {
 public:
  explicit letters(std::uint64_t size) : size_(size) {}

  std::uint64_t size() const noexcept override { return size_; }
  result<std::size_t> read(std::span<char> into) override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(size_ - at_, into.size()));
    for (std::size_t i = 0; i < count; ++i) into[i] = static_cast<char>('a' + (at_ + i) % 26);
    at_ += count;
    return count;
  }
  result<void> rewind() override {
    at_ = 0;
    return {};
  }

 private:
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};

/// `main.rs` of the specification's own examples, and the annotated README.
provider_ptr project() {
  auto source = std::make_shared<memory_provider>("project", "file:///project/");
  auto main_rs = named("file:///project/src/main.rs", "main.rs");
  main_rs.title = "Rust Software Application Main File";
  main_rs.description = "Primary application entry point";
  main_rs.mime_type = "text/x-rust";
  main_rs.icons.push_back({"https://example.com/rust-file-icon.png", "image/png", {"48x48"}, {}});
  main_rs.version = "v1";
  main_rs.kind = "file";
  check(source->add(std::move(main_rs), [](const read_request&) -> result<read_result> {
    auto found = hondana::text_read_result("fn main() {\n    println!(\"Hello world!\");\n}", "text/x-rust");
    found.contents.front().name = "main.rs";
    found.contents.front().title = "Rust Software Application Main File";
    found.version = "v1";
    return found;
  }));
  auto readme = named("file:///project/README.md", "README.md");
  readme.title = "Project Documentation";
  readme.mime_type = "text/markdown";
  readme.size = 7;
  readme.annotations.audience = {hondana::chat_role::user};
  readme.annotations.priority = 0.8;
  readme.annotations.last_modified =
      std::chrono::sys_days{std::chrono::year{2025} / 1 / 12} + std::chrono::hours{15} + std::chrono::seconds{58};
  check(source->add(std::move(readme), std::string("# Hello")));
  return source;
}

/// Contents of every form.
void add_forms(memory_provider& source) {
  auto image = named("demo:///image.png", "image.png");
  image.mime_type = "image/png";
  check(source.add(std::move(image), std::string("\x89PNG\r\n\x1a\n\0\xff", 10)));
  check(source.add(named("demo:///empty", "empty"), std::string()));
  check(source.add(named("demo:///%E6%9C%AC", "\xE6\x9C\xAC"), std::string("\xE6\x9C\xAC\xE6\xA3\x9A \"\\\t\n\x01")));
  check(source.add(named("demo:///broken.txt", "broken.txt"), std::string("a\xFF\xFEz")));
  auto folder = named("demo:///folder", "folder");
  folder.mime_type = "inode/directory";
  check(source.add(std::move(folder), [](const read_request& request) -> result<read_result> {
    auto found = hondana::text_read_result("demo:///folder/a\ndemo:///folder/b\n", "text/uri-list");
    found.contents.push_back(resource_content{request.requested_uri + "/a",
                                              {},
                                              {},
                                              "text/plain",
                                              hondana::content_kind::detect,
                                              std::make_shared<const std::string>("A")});
    return found;
  }));
  check(source.add(named("demo:///large", "large"), [](const read_request&) -> result<read_result> {
    read_result found;
    resource_content stream;
    stream.mime_type = "text/plain";
    stream.data = std::make_shared<letters>(3u << 20);
    found.contents.push_back(std::move(stream));
    return found;
  }));
}

constexpr std::array failures{
    std::pair{"resource_not_found", errc::resource_not_found},
    std::pair{"access_denied", errc::access_denied},
    std::pair{"invalid_argument", errc::invalid_argument},
    std::pair{"fetch_directly", errc::fetch_directly},
    std::pair{"response_too_large", errc::response_too_large},
    std::pair{"content_changed", errc::content_changed},
    std::pair{"timed_out", errc::timed_out},
    std::pair{"cancelled", errc::cancelled},
    std::pair{"overloaded", errc::overloaded},
    std::pair{"source_unavailable", errc::source_unavailable},
    std::pair{"unsupported", errc::unsupported},
    std::pair{"internal", errc::internal},
};

result<read_result> fail_as_asked(const read_request& request) {
  const auto asked = variable(request, "code");
  if (asked == "exception") throw std::runtime_error("a secret of the host");
  if (asked == "empty") return read_result{};
  for (const auto& [name, code] : failures) {
    if (asked == name) return fail(code, std::string("This failed on purpose: ") + name, "a secret of the host");
  }
  return fail(errc::resource_not_found, "Resource not found");
}

/// Waits until the request is cancelled or its deadline passes.
result<read_result> hold(const read_request& request) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  hondana::monotonic_clock::wait_until(changed, lock, request.stop, request.deadline, [] { return false; });
  if (request.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  return fail(errc::timed_out, "The deadline has passed.");
}

result<read_result> report_and_read(const read_request& request) {
  if (request.report_progress) {
    request.report_progress({0.5, 1.0, "half way"});
    request.report_progress({0.25, 1.0, "backwards"});
  }
  return hondana::text_read_result("done", "text/plain");
}

template <class Names>
complete_result starting_with(const Names& names, std::string_view prefix) {
  complete_result found;
  for (const auto& name : names) {
    if (std::string_view(name).starts_with(prefix)) found.values.emplace_back(name);
  }
  found.total = found.values.size();
  return found;
}

void add_templates(memory_provider& source) {
  auto notes = template_of("demo:///notes/{year}/{title}", "notes");
  notes.title = "Notes";
  notes.description = "Notes of a year";
  notes.mime_type = "text/plain";
  notes.annotations.priority = 0.5;
  notes.icons.push_back({"https://example.com/folder-icon.png", "image/png", {"48x48"}, "dark"});
  check(source.add_template(
      std::move(notes),
      [](const read_request& request) -> result<read_result> {
        return hondana::text_read_result(variable(request, "year") + ": " + variable(request, "title"), "text/plain");
      },
      [](const complete_request& request) -> result<complete_result> {
        if (request.argument == "year") return starting_with(std::array{"2024", "2025", "2026"}, request.value);
        const auto year =
            std::find_if(request.context.begin(), request.context.end(), [](const auto& one) { return one.first == "year"; });
        if (year == request.context.end()) return starting_with(std::array{"any"}, request.value);
        return starting_with(std::array{"spring of " + year->second, "summer of " + year->second}, request.value);
      }));
  check(source.add_template(
      template_of("demo:///many/{number}", "many"),
      [](const read_request& request) -> result<read_result> { return hondana::text_read_result(variable(request, "number")); },
      [](const complete_request&) -> result<complete_result> {
        complete_result all;
        for (int i = 0; i < 150; ++i) all.values.push_back(std::to_string(i));
        return all;
      }));
  check(source.add_template(
      template_of("demo:///fails/{code}", "fails"), fail_as_asked,
      [](const complete_request&) -> result<complete_result> { return fail(errc::internal, "", "a secret of the host"); }));
  check(source.add_template(template_of("demo:///held/{name}", "held"), hold));
  check(source.add_template(template_of("demo:///steps/{name}", "steps"), report_and_read));
}

}  // namespace

hondana::server demo(std::optional<std::chrono::milliseconds> deadline) {
  const auto source = std::make_shared<memory_provider>("demo", "demo:///");
  auto options = options_of("Transcript Server");
  if (deadline) options.limits.sources[source.get()].call_timeout = *deadline;
  options.max_read_bytes = 4u << 20;
  hondana::server made = must(hondana::server::create(std::move(options)));
  check(made.add(project()));
  add_forms(*source);
  add_templates(*source);
  check(source->add(named("demo:///oversized", "oversized"), [](const read_request&) -> result<read_result> {
    read_result found;
    resource_content stream;
    stream.data = std::make_shared<letters>(5u << 20);
    found.contents.push_back(std::move(stream));
    return found;
  }));
  check(made.add(source));
  auto page = hondana::links::make_link(named("https://example.com/guide", "guide"));
  if (!page) throw std::logic_error(page.error().public_text);
  check(made.add(std::make_shared<hondana::links::links_provider>(std::vector<resource>{std::move(*page)})));
  return made;
}

}  // namespace transcripts
