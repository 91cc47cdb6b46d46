/// Questions with the passages that answer them, and how well an order of passages does.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace retrieval {

/// A text with its headings, each with the lines from it to the next one.
struct section {
  std::string heading{};
  std::size_t first_line = 0;
  std::size_t last_line = 0;
};
struct text {
  std::string name{};  ///< Of its file.
  std::string bytes{};
  std::vector<section> sections{};
};

struct judgement {
  std::size_t text = 0;     ///< Which text,
  std::size_t section = 0;  ///< and which section of it.
  int grade = 0;            ///< 2: answers the question; 1: helps.
};
struct question {
  std::string id{};
  std::string words{};
  std::vector<judgement> relevant{};
};

/// One language: `FOLDER/texts/*.md` and `FOLDER/questions.tsv`. Throws std::runtime_error, naming the line, where they
/// disagree.
struct collection {
  std::vector<text> texts{};
  std::vector<question> questions{};
};
[[nodiscard]] collection load(const std::string& folder);

/// A result: lines of a text.
struct found {
  std::size_t text = 0;
  std::size_t first_line = 0;
  std::size_t last_line = 0;
};
/// Of the first ten results. A result has the grade of the best section that it shares a line with and that no result before
/// had. Source of nDCG: Järvelin and Kekäläinen, 2002, with gains 2^grade - 1.
struct quality {
  double ndcg = 0;
  double recall = 0;  ///< Part of the relevant sections that are among them.
};
[[nodiscard]] quality judge(const collection& in, const question& of, const std::vector<found>& results);

}  // namespace retrieval
