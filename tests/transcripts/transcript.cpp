/// Reading transcript files.
#include "transcripts/transcript.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

namespace transcripts {
namespace {

constexpr std::array<std::string_view, 4> legacy_revisions{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
constexpr std::array<std::string_view, 3> all_transports{"memory", "stdio", "http"};

template <class List>
bool has(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// What follows `prefix`, when the line starts with it.
std::optional<std::string_view> after(std::string_view line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return std::nullopt;
  line.remove_prefix(prefix.size());
  return line;
}

/// `PAGE#ANCHOR` of lower-case words.
bool is_place(std::string_view text) {
  const auto hash = text.find('#');
  if (hash == std::string_view::npos || hash == 0 || hash + 1 == text.size()) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '/' || c == '#' || c == '_';
  });
}

class reader {
 public:
  explicit reader(const std::filesystem::path& file) { read_.file = file; }

  tl::expected<transcript, std::string> run(std::string_view text) {
    if (!take_name()) return wrong("the name must be CASE.REVISION.txt or CASE.legacy.txt");
    std::istringstream in{std::string(text)};
    for (std::string line; std::getline(in, line);) {
      ++line_;
      if (auto fault = take(line); !fault.empty()) return wrong(fault);
    }
    line_ = 0;
    for (const auto& revision : read_.revisions) {
      const bool is_cited = std::any_of(read_.citations.begin(), read_.citations.end(),
                                        [&](const citation& one) { return one.revision == revision; });
      if (!is_cited) return wrong("no `# spec: " + revision + " PAGE#ANCHOR` line justifies it");
    }
    if (read_.steps.empty()) return wrong("nobody says anything");
    if (read_.transports.empty()) read_.transports.assign(all_transports.begin(), all_transports.end());
    return read_;
  }

 private:
  tl::unexpected<std::string> wrong(const std::string& what) const {
    auto text = read_.file.string();
    if (line_ != 0) text.append(":").append(std::to_string(line_));
    return tl::unexpected(text.append(": ").append(what));
  }

  bool take_name() {
    const auto revision = read_.file.stem().extension().string();
    if (read_.file.extension() != ".txt" || revision.empty()) return false;
    const auto name = revision.substr(1);
    if (name == "legacy") {
      read_.revisions.assign(legacy_revisions.begin(), legacy_revisions.end());
    } else if (name == modern_revision || has(legacy_revisions, name)) {
      read_.revisions = {name};
    } else {
      return false;
    }
    read_.handshake = name != modern_revision;
    return true;
  }

  /// What is wrong with the line; empty when nothing is.
  std::string take(std::string_view line) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) return {};
    if (const auto comment = after(line, "#")) return take_comment(*comment);
    if (const auto text = after(line, "-> raw ")) return add(step::kind::send_raw, *text);
    if (line == "-> raw") return add(step::kind::send_raw, {});
    if (const auto text = after(line, "-> end")) return add(step::kind::send_end, text->empty() ? *text : text->substr(1));
    if (line == "-> time") return add(step::kind::time, {});
    if (const auto seconds = after(line, "-> time ")) {
      const bool is_number =
          !seconds->empty() && seconds->size() < 4 && seconds->find_first_not_of("0123456789") == seconds->npos;
      return is_number ? add(step::kind::time, *seconds) : "expected a number of seconds after \"-> time\"";
    }
    if (const auto text = after(line, "-> http ")) return add(step::kind::bodiless, *text);
    if (const auto text = after(line, "-> header ")) return add(step::kind::header, *text);
    if (const auto text = after(line, "-> no-header ")) return add(step::kind::no_header, *text);
    if (const auto text = after(line, "-> ")) return add(step::kind::send, *text);
    if (const auto text = after(line, "<- status ")) return add(step::kind::expect_status, *text);
    if (const auto text = after(line, "<- ")) return add(step::kind::expect, *text);
    if (const auto text = after(line, "<~ ")) return add(step::kind::expect_any_order, *text);
    return "expected #, ->, <- or <~";
  }

  std::string add(step::kind what, std::string_view text) {
    read_.steps.push_back({what, std::string(text), line_});
    return {};
  }

  std::string take_comment(std::string_view text) {
    const auto colon = text.find(": ");
    const auto words = colon == std::string_view::npos ? std::vector<std::string>() : words_of(text.substr(colon + 1));
    const auto name = words_of(text.substr(0, colon));
    if (name.size() != 1 || words.empty()) return {};
    const auto& directive = name.front();
    if (directive == "spec") return take_citation(words);
    if (directive == "server") {
      read_.server = words.front();
    } else if (directive == "transports") {
      for (const auto& one : words) {
        if (!has(all_transports, one)) return "there is no transport " + one;
      }
      read_.transports = words;
    } else if (directive == "input") {
      if (words.front() != "whole") return "input can only be whole";
      read_.bytewise = false;
    } else if (directive == "open") {
      if (words.front() != "handshake" && words.front() != "none") return "open is handshake or none";
      read_.handshake = words.front() == "handshake";
    } else if (directive == "meta") {
      read_.adds_meta = false;
    }
    return {};
  }

  std::string take_citation(const std::vector<std::string>& words) {
    if (words.size() < 2 || !is_place(words[1])) return "a citation reads `# spec: REVISION PAGE#ANCHOR`";
    if (!has(read_.revisions, words[0])) return "this is not a transcript of revision " + words[0];
    read_.citations.push_back({words[0], words[1]});
    return {};
  }

  transcript read_;
  std::size_t line_ = 0;
};

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// `COUNT*TEXT`
tl::expected<std::string, std::string> repeat(std::string_view inside) {
  const auto star = inside.find('*');
  std::size_t count = 0;
  if (star == std::string_view::npos ||
      std::from_chars(inside.data(), inside.data() + star, count).ptr != inside.data() + star) {
    return tl::unexpected(std::string("a repetition reads \\{COUNT*TEXT}"));
  }
  const auto text = inside.substr(star + 1);
  std::string out;
  out.reserve(count * text.size());
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace

tl::expected<transcript, std::string> parse_transcript(const std::filesystem::path& file, std::string_view text) {
  return reader(file).run(text);
}

tl::expected<transcript, std::string> read_transcript(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return tl::unexpected(file.string() + ": cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return parse_transcript(file, text.str());
}

tl::expected<std::string, std::string> unescape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '\\') {
      out += c;
      continue;
    }
    if (text.starts_with('n') || text.starts_with('\\')) {
      out += text.front() == 'n' ? '\n' : '\\';
      text.remove_prefix(1);
    } else if (text.starts_with('x') && text.size() >= 3 && digit_of(text[1]) >= 0 && digit_of(text[2]) >= 0) {
      out += static_cast<char>(digit_of(text[1]) * 16 + digit_of(text[2]));
      text.remove_prefix(3);
    } else if (text.starts_with('{') && text.find('}') != std::string_view::npos) {
      const auto end = text.find('}');
      const auto repeated = repeat(text.substr(1, end - 1));
      if (!repeated) return repeated;
      out += *repeated;
      text.remove_prefix(end + 1);
    } else {
      return tl::unexpected(std::string("an escape is one of \\n, \\\\, \\xHH and \\{COUNT*TEXT}"));
    }
  }
  return out;
}

}  // namespace transcripts
