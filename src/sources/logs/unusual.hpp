/// Telling what is unusual in a log.
#pragma once

#include "sources/logs/summary.hpp"

namespace hondana::logs {

/// Fills in `unusual` and `priority`. The recent part of the window (an hour, or a quarter of what is shorter than four) is
/// held against the rest of what was gone through:
///
/// - errors: 5 or more, at least three times as often as before: 0.5 + 0.1 × log2(times), at most 0.95. "As before" is at least
///   one in all the time before.
/// - critical: any critical record: 0.8.
/// - new-message: a template that had not come before (known only where 100 records or more had, and all of them are in
///   mind): critical 0.9, error 0.7, warning 0.5; else 0.35, and then only from 10 of them on. Five are told at most.
/// - silence: nothing for ten minutes or more, and three times longer than ever in the window, which had 20 records or more:
///   0.6. Only where the window ends now and was gone through up to there, and had a pause before or records in ten of the
///   parts that its slices have.
/// - burst: 200 records or more, five times as often as before: 0.5.
///
/// The priority is the greatest of these; without any 0.3, of a log that had no records 0.1.
void find_unusual(summary& in, const message_counter& messages, records::instant now);

}  // namespace hondana::logs
