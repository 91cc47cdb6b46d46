// What the suite wrote down about each scenario, as one verdict a scenario.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** This check is added by the suite to every scenario and says nothing of its subject. */
const always_there = 'wire-schema-valid';

/**
 * failed: a check failed or warned. undone: the suite threw or gave up, or nothing was checked. inapplicable: every check was
 * skipped, since the server does not declare what it is about. Otherwise passed.
 */
export function verdict_of(checks) {
  const said = checks.filter((one) => one.status !== 'INFO');
  if (said.some((one) => one.status === 'FAILURE' || one.status === 'WARNING')) return 'failed';
  const own = said.filter((one) => one.id !== always_there);
  if (own.some((one) => one.status === 'SUCCESS')) return 'passed';
  return own.some((one) => one.status === 'SKIPPED') ? 'inapplicable' : 'undone';
}

/**
 * Each scenario below `folder` (where the suite's --output-dir was): its checks and its verdict. The suite begins the names of
 * results about servers with `server-`, and has folders for groups of scenarios about clients.
 */
export function results_in(folder, side = 'server') {
  const results = new Map();
  for (const name of readdirSync(folder, { recursive: side === 'client' })) {
    const found = /^(server-)?(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/.exec(name);
    if (found === null || (found[1] === undefined) === (side === 'server')) continue;
    const scenario = found[2];
    const path = join(folder, name, 'checks.json');
    const checks = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
    results.set(scenario, { checks, verdict: verdict_of(checks) });
  }
  return results;
}

/** Lines that say what was wrong with a scenario. */
export function complaints(scenario, { checks, verdict }) {
  if (verdict === 'undone') return [`${scenario}: not carried out, or without any check; see the suite's output`];
  return checks
    .filter((one) => one.status === 'FAILURE' || one.status === 'WARNING')
    .map((one) => `${scenario}:${one.id}: ${one.status}: ${one.errorMessage ?? one.description}`);
}

/** How many of `names` have that verdict. */
export const count = (results, names, verdict) => names.filter((name) => results.get(name)?.verdict === verdict).length;
