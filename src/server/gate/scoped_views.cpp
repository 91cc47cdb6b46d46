/// Views that let nothing be read for which a caller lacks a scope.
#include "server/gate/scoped_views.hpp"

#include <algorithm>

#include "base/bytes/digest.hpp"
#include "server/access/one_form.hpp"
#include "server/access/rules.hpp"

namespace hondana::gate {
namespace {

// A view that is dropped is made again.
constexpr std::size_t most_views = 1024;

class scoped_view final : public view {
 public:
  scoped_view(std::shared_ptr<const guarded_uris> all, const std::vector<bool>& lacking, std::shared_ptr<const view> through)
      : all_(std::move(all)), through_(std::move(through)) {
    auto spelled = "scopes " + std::to_string(through_ ? through_->id() : 0);
    for (std::size_t i = 0; i < lacking.size(); ++i) {
      if (!lacking[i]) continue;
      const auto& one = (*all_)[i];
      guarded_.push_back(&one);
      for (const auto& prefix : one.prefixes) (spelled += ' ') += std::to_string(prefix.size()) + ':' + prefix;
      for (const auto& made : one.templates) (spelled += ' ') += made.text();
      spelled += '\n';
    }
    id_ = bytes::digest_of(spelled)[0];
  }

  std::uint64_t id() const noexcept override { return id_; }
  bool may_see(std::string_view uri) const override { return !through_ || through_->may_see(uri); }
  bool may_read(std::string_view uri) const override { return (!through_ || through_->may_read(uri)) && has_scopes(uri); }
  bool looks_at_entries() const noexcept override { return through_ && through_->looks_at_entries(); }
  bool may_see_entry(const resource& entry) const override { return !through_ || through_->may_see_entry(entry); }
  bool may_read_entry(const resource& entry) const override {
    return (!through_ || through_->may_read_entry(entry)) && has_scopes(entry.uri);
  }
  bool may_see_some(const uri_template& of) const override { return !through_ || through_->may_see_some(of); }

 private:
  bool has_scopes(std::string_view uri) const {
    if (access::has_forms(uri)) return has_scopes_in_one_form(access::in_one_form(uri));
    return has_scopes_in_one_form(uri);
  }
  bool has_scopes_in_one_form(std::string_view uri) const {
    return std::none_of(guarded_.begin(), guarded_.end(), [uri](const auto* one) { return one->has(uri); });
  }

  std::shared_ptr<const guarded_uris> all_;
  std::shared_ptr<const view> through_;
  std::vector<const named_uris*> guarded_;
  std::uint64_t id_ = 0;
};

}  // namespace

bool named_uris::has(std::string_view uri) const {
  if (prefixes.empty() && templates.empty()) return true;
  // A part of a resource is as protected as the whole.
  const auto whole = access::whole_of(uri);
  return std::any_of(prefixes.begin(), prefixes.end(), [uri](const auto& one) { return access::is_about(one, uri); }) ||
         std::any_of(templates.begin(), templates.end(),
                     [&](const auto& one) { return one.match(uri).has_value() || one.match(whole).has_value(); });
}

scoped_views::scoped_views(guarded_uris all) : all_(std::make_shared<const guarded_uris>(std::move(all))) {}

std::shared_ptr<const view> scoped_views::narrow(const std::vector<bool>& lacking, std::shared_ptr<const view> through) const {
  if (std::find(lacking.begin(), lacking.end(), true) == lacking.end()) return through;
  const std::lock_guard lock(mutex_);
  const auto found = made_.find({lacking, through.get()});
  if (found != made_.end()) return found->second;
  if (made_.size() == most_views) made_.erase(made_.begin());
  const auto* const outer = through.get();
  auto made = std::make_shared<const scoped_view>(all_, lacking, std::move(through));
  made_.emplace(key{lacking, outer}, made);
  return made;
}

}  // namespace hondana::gate
