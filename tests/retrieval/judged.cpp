/// Reading a collection, and computing its measures.
#include "retrieval/judged.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace retrieval {
namespace {

constexpr std::size_t depth = 10;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream from(path, std::ios::binary);
  if (!from) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(from), {}};
}

std::vector<section> sections_of(const std::string& bytes) {
  std::vector<section> out;
  std::size_t line = 0;
  bool is_code = false;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const auto end = std::min(bytes.find('\n', begin), bytes.size());
    const std::string_view now = std::string_view(bytes).substr(begin, end - begin);
    begin = end + 1;
    ++line;
    if (now.starts_with("```")) is_code = !is_code;
    const auto marks = std::min(now.find_first_not_of('#'), now.size());
    if (is_code || marks == 0 || marks > 6 || marks >= now.size() || now[marks] != ' ') continue;
    if (!out.empty()) out.back().last_line = line - 1;
    out.push_back({std::string(now.substr(marks + 1)), line, line});
  }
  if (!out.empty()) out.back().last_line = line;
  return out;
}

std::vector<std::string_view> split(std::string_view text, std::string_view at) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto end = text.find(at);
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + at.size());
  }
}

judgement judgement_of(std::string_view written, const collection& in) {
  const auto hash = written.find('#');
  const auto equals = written.rfind('=');
  if (hash == std::string_view::npos || equals == std::string_view::npos || equals < hash)
    throw std::runtime_error("no judgement: " + std::string(written));
  const auto name = written.substr(0, hash);
  const auto heading = written.substr(hash + 1, equals - hash - 1);
  const auto text = std::find_if(in.texts.begin(), in.texts.end(), [&](const auto& one) { return one.name == name; });
  if (text == in.texts.end()) throw std::runtime_error("no text " + std::string(name));
  const auto part =
      std::find_if(text->sections.begin(), text->sections.end(), [&](const auto& one) { return one.heading == heading; });
  if (part == text->sections.end()) throw std::runtime_error("no section " + std::string(written));
  return {static_cast<std::size_t>(text - in.texts.begin()), static_cast<std::size_t>(part - text->sections.begin()),
          written[equals + 1] - '0'};
}

double gain(int grade) { return std::exp2(grade) - 1; }

}  // namespace

collection load(const std::string& folder) {
  collection out;
  for (const auto& one : std::filesystem::directory_iterator(folder + "/texts")) {
    auto bytes = bytes_of(one.path());
    auto sections = sections_of(bytes);
    out.texts.push_back({one.path().filename().string(), std::move(bytes), std::move(sections)});
  }
  std::sort(out.texts.begin(), out.texts.end(), [](const text& a, const text& b) { return a.name < b.name; });
  const auto table = bytes_of(folder + "/questions.tsv");
  bool is_head = true;
  for (const auto line : split(table, "\n")) {
    if (line.empty() || is_head) {
      is_head = false;
      continue;
    }
    const auto columns = split(line, "\t");
    if (columns.size() != 3) throw std::runtime_error("three columns are expected: " + std::string(line));
    question made{std::string(columns[0]), std::string(columns[1]), {}};
    for (const auto one : split(columns[2], " ; ")) made.relevant.push_back(judgement_of(one, out));
    out.questions.push_back(std::move(made));
  }
  return out;
}

quality judge(const collection& in, const question& of, const std::vector<found>& results) {
  std::vector<bool> had(of.relevant.size(), false);
  quality out;
  double gained = 0;
  std::size_t hits = 0;
  for (std::size_t rank = 0; rank < std::min(depth, results.size()); ++rank) {
    const auto& one = results[rank];
    int grade = 0;
    for (std::size_t i = 0; i < of.relevant.size(); ++i) {
      const auto& wanted = of.relevant[i];
      const auto& part = in.texts[wanted.text].sections[wanted.section];
      if (had[i] || wanted.text != one.text || part.last_line < one.first_line || part.first_line > one.last_line) continue;
      had[i] = true;
      ++hits;
      grade = std::max(grade, wanted.grade);
    }
    gained += gain(grade) / std::log2(static_cast<double>(rank) + 2);
  }
  std::vector<int> grades;
  grades.reserve(of.relevant.size());
  for (const auto& one : of.relevant) grades.push_back(one.grade);
  std::sort(grades.rbegin(), grades.rend());
  double best = 0;
  for (std::size_t rank = 0; rank < std::min(depth, grades.size()); ++rank)
    best += gain(grades[rank]) / std::log2(static_cast<double>(rank) + 2);
  out.ndcg = best > 0 ? gained / best : 0;
  out.recall = static_cast<double>(hits) / static_cast<double>(of.relevant.size());
  return out;
}

}  // namespace retrieval
