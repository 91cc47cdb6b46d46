/// Renders PDF and Office files as text in confined child processes.
#include "text/rendering/renderer.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <utility>

#include <hondana/clock.hpp>

#include "base/json/utf8.hpp"
#include "os/process/confined_child.hpp"
#include "text/rendering/office/office_libraries.hpp"
#include "text/rendering/office/text_output.hpp"
#include "text/rendering/poppler.hpp"
#include "text/rendering/render_child.hpp"
#include "text/rendering/render_protocol.hpp"

namespace hondana::rendering {
namespace {

using clock = monotonic_clock;

constexpr std::array all_formats{format::pdf, format::docx, format::xlsx, format::pptx, format::odt, format::ods, format::odp};
/// The file name of the hondana program.
constexpr const char* program_name = "hondana";

/// The path of this program if it is hondana; "" otherwise.
std::string find_own_program() {
  std::error_code error;
  auto path = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return {};
  // The file was replaced since the start; the new one has the same path.
  constexpr std::string_view deleted_suffix = " (deleted)";
  if (path.ends_with(deleted_suffix)) path.resize(path.size() - deleted_suffix.size());
  return std::filesystem::path(path).filename() == program_name ? path : std::string();
}

/// Limits the number of concurrent children.
class slot_pool {
 public:
  explicit slot_pool(std::size_t max_slots) noexcept : free_slots_(std::max<std::size_t>(max_slots, 1)) {}

  result<void> acquire(const std::stop_token& stop, clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (monotonic_clock::wait_until(changed_, lock, stop, deadline, [this] { return free_slots_ > 0; })) {
      --free_slots_;
      return {};
    }
    if (stop.stop_requested()) return fail(errc::cancelled, "no caller waits for the document any more");
    return fail(errc::timed_out, "other documents were being rendered until the deadline");
  }
  void release() {
    const std::lock_guard lock(mutex_);
    ++free_slots_;
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t free_slots_;
};

class slot {
 public:
  explicit slot(slot_pool& pool) noexcept : pool_(pool) {}
  slot(const slot&) = delete;
  slot& operator=(const slot&) = delete;
  ~slot() { pool_.release(); }

 private:
  slot_pool& pool_;
};

/// Receives a child's answer: its first line, and the text after it up to a limit.
class output_reader {
 public:
  explicit output_reader(std::uint64_t max_bytes) noexcept : max_bytes_(max_bytes) {}

  /// Returns an error when the limit is reached; `is_truncated` then distinguishes it from other errors.
  result<void> accept(std::string_view piece) {
    if (!has_head_) {
      const auto end = piece.find('\n');
      head_ += piece.substr(0, end);
      if (head_.size() > max_head_bytes) return fail(errc::source_unavailable, "the rendering process sent too much data");
      if (end == std::string_view::npos) return {};
      has_head_ = true;
      piece.remove_prefix(end + 1);
    }
    const auto space_left = max_bytes_ - text_.size();
    text_ += piece.substr(0, space_left);
    if (piece.size() <= space_left) return {};
    is_truncated_ = true;
    return fail(errc::response_too_large, "the text is longer than the rendering limit");
  }

  [[nodiscard]] const std::string& head() const noexcept { return head_; }
  [[nodiscard]] std::string& text() noexcept { return text_; }
  [[nodiscard]] bool is_truncated() const noexcept { return is_truncated_; }

 private:
  const std::uint64_t max_bytes_;
  std::string head_;
  std::string text_;
  bool has_head_ = false;
  bool is_truncated_ = false;
};

tl::unexpected<failure> damaged_file(std::string private_text) {
  return fail(errc::invalid_argument, "the file is damaged, or its format does not match its name", std::move(private_text));
}

/// The failure for a child that was killed by a signal.
tl::unexpected<failure> killed_failure(const process::termination& exit_status) {
  const auto private_text = "signal " + std::to_string(exit_status.signal) + ": " + exit_status.error_output;
  const bool lacks_memory = exit_status.error_output.find("bad_alloc") != std::string::npos ||
                            exit_status.error_output.find("ut of memory") != std::string::npos;
  if (lacks_memory) return fail(errc::response_too_large, "reading the file takes more memory than allowed", private_text);
  if (exit_status.signal == SIGXCPU || exit_status.signal == SIGKILL)
    return fail(errc::timed_out, "reading the file takes more time than allowed", private_text);
  return damaged_file(private_text);
}

/// Interprets exit codes and messages of the Poppler programs.
result<void> check_pdf_exit(const process::termination& exit_status) {
  const auto& messages = exit_status.error_output;
  if (exit_status.exit_code == 0) return {};
  if (exit_status.exit_code == -1) return killed_failure(exit_status);
  if (messages.find("Incorrect password") != std::string::npos || exit_status.exit_code == 3)
    return fail(errc::access_denied, "the file is encrypted; store it without a password", messages);
  if (messages.find("bad_alloc") != std::string::npos || messages.find("ut of memory") != std::string::npos)
    return fail(errc::response_too_large, "reading the file takes more memory than allowed", messages);
  constexpr int not_started = 126;
  constexpr int no_libraries = 127;
  if (exit_status.exit_code == not_started || exit_status.exit_code == no_libraries)
    return fail(errc::unsupported, "PDF cannot be read: pdftotext cannot be run; install poppler-utils", messages);
  return damaged_file(messages);
}

/// The text without control characters, malformed bytes and an incomplete character at the end.
std::string clean_text(std::string text) {
  std::erase_if(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t' && c != '\f') || byte == 0x7f;
  });
  text.resize(text.size() - json::incomplete_tail(text));
  if (json::is_utf8(text)) return text;
  std::string repaired;
  repaired.reserve(text.size());
  json::append_replacing(repaired, text);
  return repaired;
}

class process_renderer final : public renderer {
 public:
  process_renderer(std::string program, std::size_t max_concurrent)
      : program_(program.empty() ? find_own_program() : std::move(program)), slots_(max_concurrent) {}

  [[nodiscard]] result<document> render(format document_format, int input, const limits& limits, const std::stop_token& stop,
                                        clock::time_point deadline) const override {
    if (auto missing = missing_for(document_format); !missing.empty()) return fail(errc::unsupported, std::move(missing));
    HONDANA_TRY(slots_.acquire(stop, deadline));
    const slot acquired(slots_);
    const auto end = std::min(deadline, clock::now() + limits.max_time);
    const render_request request{input, limits, stop, end};
    return document_format == format::pdf ? render_pdf(request) : render_office_file(document_format, request);
  }

  [[nodiscard]] result<std::vector<sheet>> sheets(int input, const limits& limits, const std::stop_token& stop,
                                                  clock::time_point deadline) const override {
    if (auto missing = missing_for(format::xlsx); !missing.empty()) return fail(errc::unsupported, std::move(missing));
    HONDANA_TRY(slots_.acquire(stop, deadline));
    const slot acquired(slots_);
    const render_request request{input, limits, stop, std::min(deadline, clock::now() + limits.max_time)};
    HONDANA_TRY(auto output, run(sheets_name, request));
    if (!output.is_truncated && output.exit_status.exit_code != 0) return killed_failure(output.exit_status);
    auto rendered = parse_sheets(output.text);
    if (!rendered) return rendered;
    for (auto& item : *rendered) {
      item.name = to_single_line(clean_text(std::move(item.name)));
      item.csv = clean_text(std::move(item.csv));
    }
    if (output.is_truncated && !rendered->empty()) rendered->back().is_truncated = true;
    return rendered;
  }

  [[nodiscard]] std::vector<std::vector<std::string>> commands() const override {
    std::vector<std::vector<std::string>> list;
    if (program_.empty()) return list;
    list.reserve(all_formats.size() + 2);
    for (const auto document_format : all_formats) list.push_back(command_for(name_of(document_format)));
    list.push_back(command_for(pdf_info_name));
    list.push_back(command_for(sheets_name));
    return list;
  }

  [[nodiscard]] std::string missing_for(format document_format) const override {
    if (program_.empty() || ::access(program_.c_str(), X_OK) != 0)
      return "rendering documents requires the program hondana, which is missing; install it";
    if (document_format != format::pdf) return missing_office_libraries();
    if (find_program("pdftotext").empty() || find_program("pdfinfo").empty())
      return "reading PDF requires pdftotext and pdfinfo, which are missing; install poppler-utils";
    return {};
  }

  [[nodiscard]] std::string missing_confinement() const override {
    const std::lock_guard lock(mutex_);
    return missing_confinement_;
  }

 private:
  struct render_request {
    int input;
    const limits& render_limits;
    const std::stop_token& stop;
    clock::time_point deadline;
  };
  struct child_output {
    child_head head;
    std::string text;
    bool is_truncated = false;
    process::termination exit_status;
  };

  [[nodiscard]] std::vector<std::string> command_for(std::string_view name) const {
    return {program_, render_verb, std::string(name)};
  }

  /// Errors: those of the child's head, and of starting it.
  [[nodiscard]] result<child_output> run(std::string_view name, const render_request& request) const {
    output_reader output(request.render_limits.max_output_bytes);
    const process::limits process_limits{.max_time = request.render_limits.max_time,
                                         .max_memory_bytes = request.render_limits.max_memory_bytes,
                                         .max_output_bytes = request.render_limits.max_output_bytes + 4 * max_head_bytes,
                                         .max_unpacked_bytes = request.render_limits.max_unpacked_bytes};
    auto exit_status = process::run_confined(
        command_for(name), request.input, process_limits, [&output](std::string_view piece) { return output.accept(piece); },
        request.stop, request.deadline);
    if (!exit_status && !output.is_truncated()) return tl::unexpected(std::move(exit_status.error()));
    if (output.head().empty() && exit_status && exit_status->exit_code == -1) return killed_failure(*exit_status);
    std::string missing_part;
    auto head = parse_head(output.head(), missing_part);
    store_missing_confinement(missing_part);
    if (!head) {
      auto error = std::move(head.error());
      if (exit_status && !exit_status->error_output.empty())
        error.private_text += (error.private_text.empty() ? "" : ": ") + exit_status->error_output;
      return tl::unexpected(std::move(error));
    }
    return child_output{.head = std::move(*head),
                        .text = std::move(output.text()),
                        .is_truncated = output.is_truncated(),
                        .exit_status = exit_status ? std::move(*exit_status) : process::termination()};
  }

  [[nodiscard]] result<document> render_pdf(const render_request& request) const {
    HONDANA_TRY(auto info, run(pdf_info_name, request));
    HONDANA_TRY(check_pdf_exit(info.exit_status));
    auto rendered = parse_pdf_info(info.text);
    HONDANA_TRY(auto text, run(name_of(format::pdf), request));
    // If the text was cut, the exit code is not known and counts as success.
    HONDANA_TRY(check_pdf_exit(text.exit_status));
    rendered.is_truncated = text.is_truncated || rendered.pages > max_pdf_pages;
    rendered.text = clean_text(std::move(text.text));
    return rendered;
  }

  [[nodiscard]] result<document> render_office_file(format document_format, const render_request& request) const {
    HONDANA_TRY(auto output, run(name_of(document_format), request));
    if (!output.is_truncated && output.exit_status.exit_code != 0) return killed_failure(output.exit_status);
    auto rendered = std::move(output.head.properties);
    rendered.is_truncated = rendered.is_truncated || output.is_truncated;
    // If the text was cut, `extra_bytes` is missing.
    if (const auto extra_bytes = output.head.extra_bytes;
        extra_bytes > 0 && !output.is_truncated && extra_bytes <= output.text.size()) {
      rendered.extra_text = clean_text(output.text.substr(output.text.size() - extra_bytes));
      output.text.resize(output.text.size() - extra_bytes);
    }
    rendered.text = clean_text(std::move(output.text));
    return rendered;
  }

  void store_missing_confinement(const std::string& text) const {
    const std::lock_guard lock(mutex_);
    missing_confinement_ = text;
  }

  const std::string program_;
  mutable slot_pool slots_;
  mutable std::mutex mutex_;
  mutable std::string missing_confinement_;  // as reported by the last child
};

}  // namespace

result<std::vector<sheet>> renderer::sheets(int, const limits&, const std::stop_token&, clock::time_point) const {
  return fail(errc::unsupported, "splitting workbooks into sheets is not supported here");
}

std::shared_ptr<renderer> renderer::make(std::string program, std::size_t max_concurrent) {
  return std::make_shared<process_renderer>(std::move(program), max_concurrent);
}

}  // namespace hondana::rendering
