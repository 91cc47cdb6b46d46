/// Looking into an index that a server may be writing.
#include "app/cli/index_told.hpp"

#include <string>

#include "app/cli/output.hpp"
#include "app/cli/terminal/quantities.hpp"
#include "app/cli/visible.hpp"
#include "base/json/writer.hpp"
#include "search/index/kept.hpp"

namespace hondana::cli {
namespace {

std::string counted(std::uint64_t number, const char* what) {
  return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

std::string words_for(const search::kept_index& what, bool has_vectors) {
  const auto& counts = what.counts;
  auto out =
      counted(counts.documents, "resource") + ", " + counted(counts.passages, "passage") + ", " + human_size(counts.bytes);
  if (has_vectors) out += ", " + counted(counts.vectors, "vector");
  if (counts.without_text > 0) out += ", " + std::to_string(counts.without_text) + " without text";
  if (!what.how) return out;
  const auto& how = *what.how;
  out += how.is_complete ? "; complete" : how.waiting > 0 ? "; " + std::to_string(how.waiting) + " waiting" : "; not complete";
  return out + " since " + human_time(how.at);
}

void print_line(const std::optional<search::kept_index>& what, const std::string& problem) {
  std::string line;
  json::writer to(line);
  to.begin_object().key("index").begin_object().key("exists").boolean(what.has_value());
  to.member_if("problem", problem);
  if (what) {
    const auto& counts = what->counts;
    to.key("resources").unsigned_integer(counts.documents).key("passages").unsigned_integer(counts.passages);
    to.key("withoutText")
        .unsigned_integer(counts.without_text)
        .key("vectors")
        .unsigned_integer(counts.vectors)
        .key("bytes")
        .unsigned_integer(counts.bytes);
    if (const auto& how = what->how) {
      to.key("waiting")
          .unsigned_integer(how->waiting)
          .key("isComplete")
          .boolean(how->is_complete)
          .member("asOf", iso_time(how->at));
      to.member_if("indexingProblem", how->problem);
    }
  }
  to.end_object().end_object();
  print_json(line);
}

}  // namespace

bool print_index(const config::settings& of, bool as_json) {
  if (!of.search || (of.search->path.empty() && of.search->postgres.empty())) return true;
  const auto looked = search::look_at_kept(*of.search);
  if (as_json) {
    print_line(looked ? *looked : std::nullopt, looked ? std::string() : looked.error().public_text);
  } else if (!looked) {
    complain(looked.error());
  } else if (!*looked) {
    print("  does not exist yet: the server creates it\n");
  } else {
    print("  has " + words_for(**looked, of.search->embeddings.has_value()) + '\n');
    if ((*looked)->how && !(*looked)->how->problem.empty()) print("  " + visible((*looked)->how->problem) + '\n');
  }
  return looked.has_value();
}

}  // namespace hondana::cli
