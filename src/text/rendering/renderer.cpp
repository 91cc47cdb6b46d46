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
std::string own_program() {
  std::error_code problem;
  auto path = std::filesystem::read_symlink("/proc/self/exe", problem).string();
  if (problem) return {};
  // The file was replaced since the start; the new one has the same path.
  constexpr std::string_view gone = " (deleted)";
  if (path.ends_with(gone)) path.resize(path.size() - gone.size());
  return std::filesystem::path(path).filename() == program_name ? path : std::string();
}

/// Limits the number of concurrent children.
class turns {
 public:
  explicit turns(std::size_t most) noexcept : left_(std::max<std::size_t>(most, 1)) {}

  result<void> take(const std::stop_token& stop, clock::time_point until) {
    std::unique_lock lock(mutex_);
    if (monotonic_clock::wait_until(changed_, lock, stop, until, [this] { return left_ > 0; })) {
      --left_;
      return {};
    }
    if (stop.stop_requested()) return fail(errc::cancelled, "no caller waits for the document any more");
    return fail(errc::timed_out, "other documents were being rendered until the deadline");
  }
  void give() {
    const std::lock_guard lock(mutex_);
    ++left_;
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t left_;
};

class turn {
 public:
  explicit turn(turns& of) noexcept : of_(of) {}
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() { of_.give(); }

 private:
  turns& of_;
};

/// Receives a child's answer: its first line, and the text after it up to a limit.
class answer_intake {
 public:
  explicit answer_intake(std::uint64_t most) noexcept : most_(most) {}

  /// Returns an error when the limit is reached; `is_cut` then distinguishes it from other errors.
  result<void> take(std::string_view piece) {
    if (!has_head_) {
      const auto end = piece.find('\n');
      head_ += piece.substr(0, end);
      if (head_.size() > longest_head) return fail(errc::source_unavailable, "the rendering process sent too much data");
      if (end == std::string_view::npos) return {};
      has_head_ = true;
      piece.remove_prefix(end + 1);
    }
    const auto room = most_ - text_.size();
    text_ += piece.substr(0, room);
    if (piece.size() <= room) return {};
    is_cut_ = true;
    return fail(errc::response_too_large, "the text is longer than the rendering limit");
  }

  [[nodiscard]] const std::string& head() const noexcept { return head_; }
  [[nodiscard]] std::string& text() noexcept { return text_; }
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

 private:
  const std::uint64_t most_;
  std::string head_;
  std::string text_;
  bool has_head_ = false;
  bool is_cut_ = false;
};

tl::unexpected<failure> broken(std::string private_text) {
  return fail(errc::invalid_argument, "the file is damaged, or its format does not match its name", std::move(private_text));
}

/// The failure for a child that was killed by a signal.
tl::unexpected<failure> why_killed(const process::ended& how) {
  const auto private_text = "signal " + std::to_string(how.signal) + ": " + how.problems;
  const bool lacks_memory =
      how.problems.find("bad_alloc") != std::string::npos || how.problems.find("ut of memory") != std::string::npos;
  if (lacks_memory) return fail(errc::response_too_large, "reading the file takes more memory than allowed", private_text);
  if (how.signal == SIGXCPU || how.signal == SIGKILL)
    return fail(errc::timed_out, "reading the file takes more time than allowed", private_text);
  return broken(private_text);
}

/// Interprets exit codes and messages of the Poppler programs.
result<void> verdict_on_pdf(const process::ended& how) {
  const auto& said = how.problems;
  if (how.exit_code == 0) return {};
  if (how.exit_code == -1) return why_killed(how);
  if (said.find("Incorrect password") != std::string::npos || how.exit_code == 3)
    return fail(errc::access_denied, "the file is encrypted; store it without a password", said);
  if (said.find("bad_alloc") != std::string::npos || said.find("ut of memory") != std::string::npos)
    return fail(errc::response_too_large, "reading the file takes more memory than allowed", said);
  constexpr int not_started = 126;
  constexpr int no_libraries = 127;
  if (how.exit_code == not_started || how.exit_code == no_libraries)
    return fail(errc::unsupported, "PDF cannot be read: pdftotext cannot be run; install poppler-utils", said);
  return broken(said);
}

/// The text without control characters, malformed bytes and an incomplete character at the end.
std::string cleaned(std::string text) {
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
  process_renderer(std::string program, std::size_t at_once)
      : program_(program.empty() ? own_program() : std::move(program)), turns_(at_once) {}

  [[nodiscard]] result<document> render(format what, int input, const limits& most, const std::stop_token& stop,
                                        clock::time_point until) const override {
    if (auto missing = missing_for(what); !missing.empty()) return fail(errc::unsupported, std::move(missing));
    HONDANA_TRY(turns_.take(stop, until));
    const turn held(turns_);
    const auto end = std::min(until, clock::now() + most.time);
    const asked request{input, most, stop, end};
    return what == format::pdf ? render_pdf(request) : render_office_file(what, request);
  }

  [[nodiscard]] result<std::vector<sheet>> sheets(int input, const limits& most, const std::stop_token& stop,
                                                  clock::time_point until) const override {
    if (auto missing = missing_for(format::xlsx); !missing.empty()) return fail(errc::unsupported, std::move(missing));
    HONDANA_TRY(turns_.take(stop, until));
    const turn held(turns_);
    const asked request{input, most, stop, std::min(until, clock::now() + most.time)};
    HONDANA_TRY(auto done, run(sheets_name, request));
    if (!done.is_cut && done.how.exit_code != 0) return why_killed(done.how);
    auto made = sheets_in(done.text);
    if (!made) return made;
    for (auto& one : *made) {
      one.name = on_one_line(cleaned(std::move(one.name)));
      one.csv = cleaned(std::move(one.csv));
    }
    if (done.is_cut && !made->empty()) made->back().is_cut = true;
    return made;
  }

  [[nodiscard]] std::vector<std::vector<std::string>> commands() const override {
    std::vector<std::vector<std::string>> all;
    if (program_.empty()) return all;
    all.reserve(all_formats.size() + 2);
    for (const auto one : all_formats) all.push_back(command_for(name_of(one)));
    all.push_back(command_for(pdf_facts_name));
    all.push_back(command_for(sheets_name));
    return all;
  }

  [[nodiscard]] std::string missing_for(format what) const override {
    if (program_.empty() || ::access(program_.c_str(), X_OK) != 0)
      return "rendering documents requires the program hondana, which is missing; install it";
    if (what != format::pdf) return missing_office_libraries();
    if (program_at("pdftotext").empty() || program_at("pdfinfo").empty())
      return "reading PDF requires pdftotext and pdfinfo, which are missing; install poppler-utils";
    return {};
  }

  [[nodiscard]] std::string lacks() const override {
    const std::lock_guard lock(mutex_);
    return lacks_;
  }

 private:
  struct asked {
    int input;
    const limits& most;
    const std::stop_token& stop;
    clock::time_point until;
  };
  struct heard {
    child_head head;
    std::string text;
    bool is_cut = false;
    process::ended how;
  };

  [[nodiscard]] std::vector<std::string> command_for(std::string_view name) const {
    return {program_, render_verb, std::string(name)};
  }

  /// Errors: those of the child's head, and of starting it.
  [[nodiscard]] result<heard> run(std::string_view name, const asked& by) const {
    answer_intake intake(by.most.output);
    const process::limits limits{.time = by.most.time,
                                 .memory = by.most.memory,
                                 .output = by.most.output + 4 * longest_head,
                                 .unpacked = by.most.unpacked};
    auto how = process::run_confined(
        command_for(name), by.input, limits, [&intake](std::string_view piece) { return intake.take(piece); }, by.stop,
        by.until);
    if (!how && !intake.is_cut()) return tl::unexpected(std::move(how.error()));
    if (intake.head().empty() && how && how->exit_code == -1) return why_killed(*how);
    std::string lacks;
    auto head = head_in(intake.head(), lacks);
    remember(lacks);
    if (!head) {
      auto why = std::move(head.error());
      if (how && !how->problems.empty()) why.private_text += (why.private_text.empty() ? "" : ": ") + how->problems;
      return tl::unexpected(std::move(why));
    }
    return heard{.head = std::move(*head),
                 .text = std::move(intake.text()),
                 .is_cut = intake.is_cut(),
                 .how = how ? std::move(*how) : process::ended()};
  }

  [[nodiscard]] result<document> render_pdf(const asked& by) const {
    HONDANA_TRY(auto facts, run(pdf_facts_name, by));
    HONDANA_TRY(verdict_on_pdf(facts.how));
    auto made = pdf_facts_in(facts.text);
    HONDANA_TRY(auto text, run(name_of(format::pdf), by));
    // If the text was cut, the exit code is not known and counts as success.
    HONDANA_TRY(verdict_on_pdf(text.how));
    made.is_cut = text.is_cut || made.pages > most_pdf_pages;
    made.text = cleaned(std::move(text.text));
    return made;
  }

  [[nodiscard]] result<document> render_office_file(format what, const asked& by) const {
    HONDANA_TRY(auto done, run(name_of(what), by));
    if (!done.is_cut && done.how.exit_code != 0) return why_killed(done.how);
    auto made = std::move(done.head.facts);
    made.is_cut = made.is_cut || done.is_cut;
    // If the text was cut, `beside` is missing.
    if (const auto beside = done.head.beside; beside > 0 && !done.is_cut && beside <= done.text.size()) {
      made.beside = cleaned(done.text.substr(done.text.size() - beside));
      done.text.resize(done.text.size() - beside);
    }
    made.text = cleaned(std::move(done.text));
    return made;
  }

  void remember(const std::string& lacks) const {
    const std::lock_guard lock(mutex_);
    lacks_ = lacks;
  }

  const std::string program_;
  mutable turns turns_;
  mutable std::mutex mutex_;
  mutable std::string lacks_;  // as reported by the last child
};

}  // namespace

result<std::vector<sheet>> renderer::sheets(int, const limits&, const std::stop_token&, clock::time_point) const {
  return fail(errc::unsupported, "splitting workbooks into sheets is not supported here");
}

std::shared_ptr<renderer> renderer::make(std::string program, std::size_t at_once) {
  return std::make_shared<process_renderer>(std::move(program), at_once);
}

}  // namespace hondana::rendering
