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
  [[nodiscard]] std::int64_t read_at(std::uint64_t offset, char* buffer, std::size_t size) override {
    for (;;) {
      const auto count = ::pread(STDIN_FILENO, buffer, size, static_cast<off_t>(offset));
      if (count >= 0 || errno != EINTR) return count;
    }
  }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

 private:
  const std::uint64_t size_;
};

/// Returns false if the reader has closed the pipe.
bool write_output(std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Exits at once. Exit handlers are not needed here and must not run.
[[noreturn]] void exit_child(bool is_written) { ::_exit(is_written ? 0 : 3); }

[[noreturn]] void exit_with_failure(const failure& error, std::string_view missing_confinement) {
  exit_child(write_output(to_line(error, missing_confinement)));
}

/// The command lines of both programs. They read standard input and write to standard output.
std::array<const char*, 9> command_line(bool is_info, const char* program, const char* last_page) {
  if (is_info) return {program, "-enc", "UTF-8", "-isodates", "-", nullptr};
  return {program, "-enc", "UTF-8", "-l", last_page, "-", "-", nullptr};
}

[[noreturn]] void exec_poppler(bool is_info, const process::limits& process_limits) {
  const auto program = find_program(is_info ? "pdfinfo" : "pdftotext");
  if (program.empty())
    exit_with_failure({errc::unsupported, "PDF cannot be read: pdftotext and pdfinfo are missing (Debian: poppler-utils)", {}},
                      {});
  const auto last_page = std::to_string(max_pdf_pages);
  const auto command = command_line(is_info, program.c_str(), last_page.c_str());
  static std::array environment{std::string("LANG=C.UTF-8"), std::string("PATH=/usr/bin:/bin")};
  std::array<char*, 3> variables{environment[0].data(), environment[1].data(), nullptr};
  if (::lseek(STDIN_FILENO, 0, SEEK_SET) != 0)
    exit_with_failure({errc::source_unavailable, "the file cannot be read from its beginning", std::strerror(errno)}, {});
  auto missing_confinement = process::confine_permanently(permissions_for(program), process_limits);
  if (!missing_confinement) exit_with_failure(missing_confinement.error(), {});
  child_head head;
  head.missing_confinement = std::move(*missing_confinement);
  if (!write_output(to_line(head))) exit_child(false);
  ::execve(program.c_str(), const_cast<char* const*>(command.data()), variables.data());
  const auto error_text = std::string(std::strerror(errno)) + '\n';
  [[maybe_unused]] const auto count = ::write(STDERR_FILENO, error_text.data(), error_text.size());
  ::_exit(126);
}

[[noreturn]] void render_office_and_exit(format document_format, bool as_sheets, const process::limits& process_limits,
                                         std::uint64_t size) {
  const auto libraries = load_office_libraries();
  if (!libraries) exit_with_failure(libraries.error(), {});
  // Names of parts may contain non-ASCII letters. The locale is part of the C library, so it needs no files.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  auto missing_confinement = process::confine_permanently({}, process_limits);
  if (!missing_confinement) exit_with_failure(missing_confinement.error(), {});
  standard_input input(size);
  limits render_limits;
  render_limits.max_unpacked_bytes = process_limits.max_unpacked_bytes;
  render_limits.max_output_bytes =
      process_limits.max_output_bytes > max_head_bytes ? process_limits.max_output_bytes - max_head_bytes : 0;
  auto rendered = as_sheets ? render_office_sheets(input, render_limits, **libraries)
                            : render_office(document_format, input, render_limits, **libraries);
  if (!rendered) exit_with_failure(rendered.error(), *missing_confinement);
  if (rendered->text.size() + rendered->extra_text.size() > render_limits.max_output_bytes) {
    rendered->extra_text.clear();
    rendered->is_truncated = true;
  }
  child_head head{.properties = std::move(*rendered), .missing_confinement = std::move(*missing_confinement)};
  exit_child(write_output(to_line(head)) && write_output(head.properties.text) && write_output(head.properties.extra_text));
}

int print_usage() {
  std::fputs(
      "hondana: render-document is an internal command, which hondana starts for each document that it renders\nTo see a "
      "document as text, serve its folder and run 'hondana read URI'.\n",
      stderr);
  return 1;
}

}  // namespace

int render_as_child(int count, const char* const* arguments) {
  const char* limits_text = std::getenv(process::limits_variable);  // before there are threads
  const auto process_limits = limits_text == nullptr ? std::nullopt : process::parse_limits(limits_text);
  struct stat status{};
  if (count != 2 || !process_limits || ::fstat(STDIN_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return print_usage();
  const std::string_view name(arguments[1]);
  const bool as_sheets = name == sheets_name;
  const auto document_format = name == pdf_info_name ? format::pdf : as_sheets ? format::xlsx : parse_format(name);
  if (!document_format) return print_usage();
  try {
    if (*document_format == format::pdf) exec_poppler(name == pdf_info_name, *process_limits);
    render_office_and_exit(*document_format, as_sheets, *process_limits, static_cast<std::uint64_t>(status.st_size));
  } catch (const std::bad_alloc&) {
    exit_with_failure({errc::response_too_large, "reading the file takes more memory than allowed", {}}, {});
  } catch (const std::exception& error) {
    exit_with_failure({errc::source_unavailable, "the file cannot be rendered", error.what()}, {});
  }
}

}  // namespace hondana::rendering
