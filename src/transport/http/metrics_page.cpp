/// From the registry into the exposition formats.
#include "transport/http/metrics_page.hpp"

#include <span>
#include <string>
#include <utility>

#include "exposition/writer.hpp"
#include "series/identity.hpp"
#include "series/sample.hpp"
#include "transport/http/field_values.hpp"

namespace hondana::transport::http {
namespace {

using format = exposition::parser::format;

series::kind kind_of(figures::kind what) noexcept {
  switch (what) {
    case figures::kind::counter:
      return series::kind::counter;
    case figures::kind::gauge:
      return series::kind::gauge;
    case figures::kind::histogram:
      return series::kind::histogram;
    case figures::kind::info:
      return series::kind::info;
  }
  return series::kind::unknown;
}

class page final : public figures::sink {
 public:
  explicit page(format which) : to_(which) {}

  void family(const figures::head& of) override {
    name_ = of.name;
    to_.family(of.name, {kind_of(of.kind), std::string(of.unit), std::string(of.help)});
  }
  void sample(std::string_view suffix, std::span<const figures::label> labels, double value) override {
    series::identity of{name_ + std::string(suffix), {}};
    for (const auto& one : labels) of.labels.emplace_back(one.name, one.value);
    // A source's name may be no UTF-8, and is then nothing that can be told.
    if (series::normalise(of)) to_.sample(of, value);
  }
  [[nodiscard]] std::string finish() { return to_.finish(); }

 private:
  exposition::writer to_;
  std::string name_;
};

}  // namespace

plain_answer metrics_page(std::string_view accept, const figures::registry& of) {
  const auto which = prefers_open_metrics(accept) ? format::open_metrics : format::prometheus;
  page to(which);
  of.collect(to);
  return {200, exposition::content_type_of(which), to.finish(), "Vary: Accept\r\n"};
}

}  // namespace hondana::transport::http
