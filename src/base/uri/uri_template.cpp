/// The public face of URI templates.
#include <hondana/uri.hpp>

#include "base/uri/escapes.hpp"
#include "base/uri/template_bindings.hpp"
#include "base/uri/template_expansion.hpp"
#include "base/uri/template_matcher.hpp"
#include "base/uri/template_program.hpp"
#include "base/uri/template_syntax.hpp"

namespace hondana::inline v0 {

struct uri_template::compiled {
  std::string text;
  uri::template_program program;
};

uri_template::uri_template(std::shared_ptr<const compiled> program) noexcept : program_(std::move(program)) {}

result<uri_template> uri_template::compile(std::string_view text) {
  HONDANA_TRY(auto syntax, uri::parse_template(text));
  HONDANA_TRY(auto program, uri::compile_template(std::move(syntax)));
  return uri_template(std::make_shared<const compiled>(compiled{std::string(text), std::move(program)}));
}

result<std::string> uri_template::expand(const uri_template_values& values) const {
  return uri::expand_template(program_->program.syntax, values);
}

std::optional<uri_template_values> uri_template::match(std::string_view uri) const {
  const uri::template_program& program = program_->program;
  if (uri.size() > uri::max_matched_bytes) return std::nullopt;
  std::string storage;
  const auto canonical = uri::canonical_escapes(uri, storage);
  if (!canonical || !canonical->starts_with(program.prefix)) return std::nullopt;
  const auto captures = uri::template_matcher(program, canonical->substr(program.prefix.size())).run();
  if (!captures) return std::nullopt;
  return uri::bind(program.syntax, *captures);
}

const std::string& uri_template::text() const noexcept { return program_->text; }
const std::vector<std::string>& uri_template::variables() const noexcept { return program_->program.syntax.names; }
std::string_view uri_template::literal_prefix() const noexcept { return program_->program.prefix; }

}  // namespace hondana::inline v0
