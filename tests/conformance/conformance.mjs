// The official conformance suite, in both published lines, against a server that listens when started as `PROGRAM PORT`.
//
// Usage: node.sh conformance.mjs PROGRAM FOLDER
// FOLDER gets the suite's results, one folder a run, and summary.txt. docs/conformance.md says how to read them.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { start_server } from '../interop/listening.mjs';
import { check, judge } from '../interop/verdict.mjs';
import { faults_of, numbers_of, unexplained } from './judgement.mjs';
import { results_in } from './results.mjs';
import { entries_of, runs } from './runs.mjs';
import { run_suite } from './suite.mjs';

const [program, output] = process.argv.slice(2);
assert.ok(program && output, 'usage: node.sh conformance.mjs PROGRAM FOLDER');
const folder = resolve(output);
const summary = [];

async function carry_out(run) {
  const server = await start_server([program, '0']);
  const place = join(folder, `${run.suite.version} ${run.name}`.replaceAll(' ', '_'));
  const said = await run_suite(run.suite, run.args, {
    url: server.url,
    list: run.suite.list,
    folder: place,
    deadline_ms: 90_000,
  });
  writeFileSync(join(place, 'server.txt'), server.said());
  await server.stop();
  const results = results_in(place);
  const faults = faults_of(run, results, entries_of(run.suite.list));
  assert.ok(faults.length === 0, `${faults.length} faults; all that the suite said is in ${place}\n${faults.join('\n')}`);
  assert.equal(said.code, 0, `the suite ended with ${said.code}; all it said is in ${place}`);
  return numbers_of(run, results);
}

await judge(280_000, async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const list of new Set(runs.map((run) => run.suite.list))) {
    await check(`each entry of ${basename(list)} says what it waits for`, () => {
      assert.deepEqual(unexplained(entries_of(list)), []);
    });
  }
  for (const run of runs) {
    await check(`conformance ${run.suite.version}, ${run.name}`, async () => {
      const numbers = await carry_out(run);
      summary.push(`conformance ${run.suite.version}, ${run.name}: ${numbers}\n`);
      return numbers;
    });
  }
  writeFileSync(join(folder, 'summary.txt'), summary.join(''));
});
