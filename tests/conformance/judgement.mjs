// Whether a run of the suite is as it must be, and the numbers it comes to.
import { complaints, count } from './results.mjs';

/** Whether a comment names what its entry waits for: an extension by its identifier, or an issue by its number. */
const names_what_it_waits_for = (reason) => /\b[a-z]+(\.[a-z]+)+\/[\w-]+|\bissue \d+/.test(reason ?? '');

/** Entries of a list whose comment does not say what they wait for. */
export const unexplained = (listed) => listed.filter((one) => !names_what_it_waits_for(one.reason)).map((one) => one.entry);

/**
 * What is wrong with a run: every scenario must pass, but those on the list, which must fail. Scenarios that a requirement set
 * scores must pass whatever the list says, and its other scenarios may do as they like. Scenarios of extensions that are declared
 * must pass too, and not be skipped.
 */
export function faults_of(run, results, listed) {
  const names = [...results.keys()];
  const excused = new Set(listed.map((one) => one.scenario));
  const faults = names.length === 0 ? ['no scenario was run'] : [];
  for (const name of run.scored ?? names.filter((one) => !excused.has(one))) {
    const result = results.get(name);
    if (result === undefined) faults.push(`${name}: not run`);
    else if (result.verdict === 'failed' || result.verdict === 'undone') faults.push(...complaints(name, result));
    else if (run.scored && result.verdict === 'inapplicable') faults.push(`${name}: every check was skipped`);
  }
  for (const name of run.declared ?? []) {
    const verdict = results.get(name)?.verdict ?? 'not run';
    if (verdict !== 'passed') faults.push(`${name}: of an extension that is declared, but ${verdict}`);
  }
  for (const { entry, scenario } of listed) {
    const verdict = results.get(scenario)?.verdict;
    if (run.complete && verdict === undefined) faults.push(`${entry}: on the list, but no scenario of the suite`);
    else if (run.scored?.has(scenario)) faults.push(`${entry}: on the list, but it is scored and must pass`);
    else if (!run.scored && verdict !== undefined && verdict !== 'failed') {
      faults.push(`${entry}: on the list, but its scenario does not fail (${verdict}): take it off the list`);
    }
  }
  return faults;
}

/** The numbers of a run, in words. */
export function numbers_of(run, results) {
  const names = [...results.keys()];
  if (run.scored) {
    const scored = [...run.scored];
    const others = names.filter((name) => !run.scored.has(name));
    const passed = count(results, scored, 'passed');
    return `${passed} of ${scored.length} scored, and ${count(results, others, 'passed')} of ${others.length} not scored`;
  }
  const failed = count(results, names, 'failed');
  const inapplicable = count(results, names, 'inapplicable');
  const parts = [`${count(results, names, 'passed')} of ${names.length}`];
  if (failed > 0) parts.push(`${failed} fail as listed`);
  if (inapplicable > 0) parts.push(`${inapplicable} not applicable`);
  return parts.join(', ');
}
