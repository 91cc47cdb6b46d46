/// Opening, and finding out how it is written.
#include "sources/logs/records/member.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "os/disk/read_at.hpp"
#include "protocol/model/still_wanted.hpp"

namespace hondana::records {
namespace {

constexpr std::size_t most_fronts = 512;
constexpr std::uint64_t longest_open_line = 4u << 20;

/// Behind the last line end; 0 where there is none. A line that is longer than `longest_open_line` counts from there on as one
/// that has not ended, and what lies before as one that has.
result<std::uint64_t> behind_last_line(const content& in, const call& by) {
  constexpr std::uint64_t block_bytes = 256u << 10;
  std::string bytes;
  const auto furthest = in.size() - std::min(in.size(), longest_open_line);
  for (auto end = in.size(); end > furthest;) {
    HONDANA_TRY(still_wanted(by));
    const auto begin = std::max(furthest, end - std::min(end, block_bytes));
    bytes.resize(static_cast<std::size_t>(end - begin));
    HONDANA_TRY(const auto got, in.read(begin, std::span(bytes)));
    if (got < bytes.size()) return fail(errc::content_changed, "A log file was truncated while it was read. Retry.");
    if (const auto found = bytes.rfind('\n'); found != std::string::npos) return begin + found + 1;
    end = begin;
  }
  return furthest;
}

}  // namespace

bool is_open_ended(int file, std::uint64_t size) noexcept {
  char last = '\n';
  if (size == 0) return false;
  const auto got = disk::read_at(file, &last, 1, size - 1);
  return got && *got == 1 && last != '\n';
}

std::string members::front_of(const opened_file& of) {
  const auto& facts = of.listed.facts;
  const key which{facts.device, facts.inode, facts.size, facts.modified};
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = fronts_.find(which); known != fronts_.end()) return known->second;
  }
  auto front = unpacked_files::front(of.file->get(), facts, of.how, telling_bytes);
  const std::lock_guard lock(mutex_);
  if (fronts_.size() >= most_fronts) fronts_.clear();
  fronts_[which] = front;
  return front;
}

result<opened_file> members::open(const listed_set& in, const listed_file& which) {
  auto file = open_listed(in, which);
  if (!file) return tl::unexpected(std::move(file.error()));
  opened_file out;
  out.listed = which;
  struct stat facts{};
  if (::fstat(file->get(), &facts) == 0) out.listed.facts = disk::stamp_of(facts);
  out.file = std::make_shared<const disk::handle>(std::move(*file));
  std::string front(telling_bytes, '\0');
  const auto got = disk::read_at(out.file->get(), front.data(), front.size(), 0);
  if (!got) return fail(errc::source_unavailable, "A log file could not be read.", std::strerror(got.error()));
  // What was written since is not part of it.
  front.resize(static_cast<std::size_t>(std::min<std::uint64_t>(*got, out.listed.facts.size)));
  out.how = compression_of(front);
  out.front = out.how == compression::none ? std::move(front) : front_of(out);
  return out;
}

result<member> members::unpack(opened_file of, const call& by) {
  member out;
  const auto& facts = of.listed.facts;
  if (of.how == compression::none) {
    out.bytes = std::make_shared<const file_content>(of.file, facts.size);
    out.end = facts.size;
    const bool is_settled = disk::wall_clock() - facts.modified > line_settles_after;
    if (!is_settled && is_open_ended(of.file->get(), facts.size)) {
      HONDANA_TRY(const auto end, behind_last_line(*out.bytes, by));
      out.end = end;
    }
  } else {
    HONDANA_TRY(auto got, unpacked_.get(facts, of.file, of.how, by));
    out.bytes = std::move(got.bytes);
    out.trouble = std::move(got.trouble);
    out.end = out.bytes->size();
  }
  out.times = time_reader(zone_, facts.modified / 1000);
  std::string sample(static_cast<std::size_t>(std::min<std::uint64_t>(framing::sample_bytes, out.end)), '\0');
  HONDANA_TRY(const auto got, out.bytes->read(0, std::span(sample)));
  sample.resize(got);
  out.frame = framing(framing_, sample, out.times);
  out.of = std::move(of);
  return out;
}

}  // namespace hondana::records
