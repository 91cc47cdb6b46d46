/// The child process that renders one document.
#include "text/rendering/render_child.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "os/process/confined_child.hpp"
#include "text/rendering/office/office.hpp"
#include "text/rendering/poppler.hpp"
#include "text/rendering/render_protocol.hpp"

namespace hondana::rendering {
namespace {

/// The file on standard input.
class standard_input final : public byte_source {
 public:
  explicit standard_input(std::uint64_t size) noexcept : size_(size) {}
  [[nodiscard]] std::int64_t read_at(std::uint64_t offset, char* into, std::size_t size) override {
    for (;;) {
      const auto count = ::pread(STDIN_FILENO, into, size, static_cast<off_t>(offset));
      if (count >= 0 || errno != EINTR) return count;
    }
  }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

 private:
  const std::uint64_t size_;
};

/// Returns false if the reader has closed the pipe.
bool say(std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Exits at once. Exit handlers are not needed here and must not run.
[[noreturn]] void leave(bool is_said) { ::_exit(is_said ? 0 : 3); }

[[noreturn]] void leave_with(const failure& why, std::string_view lacks) { leave(say(line_of(why, lacks))); }

/// The command lines of both programs. They read standard input and write to standard output.
std::array<const char*, 9> words_for(bool is_facts, const char* program, const char* last_page) {
  if (is_facts) return {program, "-enc", "UTF-8", "-isodates", "-", nullptr};
  return {program, "-enc", "UTF-8", "-l", last_page, "-", "-", nullptr};
}

[[noreturn]] void become_poppler(bool is_facts, const process::limits& most) {
  const auto program = program_at(is_facts ? "pdfinfo" : "pdftotext");
  if (program.empty())
    leave_with({errc::unsupported, "PDF cannot be read: pdftotext and pdfinfo are missing (Debian: poppler-utils)", {}}, {});
  const auto last_page = std::to_string(most_pdf_pages);
  const auto words = words_for(is_facts, program.c_str(), last_page.c_str());
  static std::array environment{std::string("LANG=C.UTF-8"), std::string("PATH=/usr/bin:/bin")};
  std::array<char*, 3> variables{environment[0].data(), environment[1].data(), nullptr};
  if (::lseek(STDIN_FILENO, 0, SEEK_SET) != 0)
    leave_with({errc::source_unavailable, "the file cannot be read from its beginning", std::strerror(errno)}, {});
  auto lacks = process::shut_in(permissions_for(program), most);
  if (!lacks) leave_with(lacks.error(), {});
  child_head head;
  head.lacks = std::move(*lacks);
  if (!say(line_of(head))) leave(false);
  ::execve(program.c_str(), const_cast<char* const*>(words.data()), variables.data());
  const auto why = std::string(std::strerror(errno)) + '\n';
  [[maybe_unused]] const auto count = ::write(STDERR_FILENO, why.data(), why.size());
  ::_exit(126);
}

[[noreturn]] void render_office_here(format what, bool as_sheets, const process::limits& most, std::uint64_t size) {
  const auto libraries = loaded_office_libraries();
  if (!libraries) leave_with(libraries.error(), {});
  // Names of parts may contain non-ASCII letters. The locale is part of the C library, so it needs no files.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  auto lacks = process::shut_in({}, most);
  if (!lacks) leave_with(lacks.error(), {});
  standard_input from(size);
  limits here;
  here.unpacked = most.unpacked;
  here.output = most.output > longest_head ? most.output - longest_head : 0;
  auto made = as_sheets ? render_office_sheets(from, here, **libraries) : render_office(what, from, here, **libraries);
  if (!made) leave_with(made.error(), *lacks);
  if (made->text.size() + made->beside.size() > here.output) {
    made->beside.clear();
    made->is_cut = true;
  }
  child_head head{.facts = std::move(*made), .lacks = std::move(*lacks)};
  leave(say(line_of(head)) && say(head.facts.text) && say(head.facts.beside));
}

int explain() {
  std::fputs(
      "hondana: render-document is an internal command, which hondana starts for each document that it renders\nTo see a "
      "document as text, serve its folder and run 'hondana read URI'.\n",
      stderr);
  return 1;
}

}  // namespace

int render_as_child(int count, const char* const* arguments) {
  const char* told = std::getenv(process::limits_variable);  // before there are threads
  const auto most = told == nullptr ? std::nullopt : process::limits_in(told);
  struct stat facts{};
  if (count != 2 || !most || ::fstat(STDIN_FILENO, &facts) != 0 || !S_ISREG(facts.st_mode)) return explain();
  const std::string_view name(arguments[1]);
  const bool as_sheets = name == sheets_name;
  const auto what = name == pdf_facts_name ? format::pdf : as_sheets ? format::xlsx : format_named(name);
  if (!what) return explain();
  try {
    if (*what == format::pdf) become_poppler(name == pdf_facts_name, *most);
    render_office_here(*what, as_sheets, *most, static_cast<std::uint64_t>(facts.st_size));
  } catch (const std::bad_alloc&) {
    leave_with({errc::response_too_large, "reading the file takes more memory than allowed", {}}, {});
  } catch (const std::exception& problem) {
    leave_with({errc::source_unavailable, "the file cannot be rendered", problem.what()}, {});
  }
}

}  // namespace hondana::rendering
