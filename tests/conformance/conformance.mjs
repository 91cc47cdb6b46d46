// The official conformance suite, in both published lines, against a server that listens when started as `SERVER PORT`, and
// against a client that is started as `CLIENT URL`.
//
// Usage: node.sh conformance.mjs SERVER CLIENT FOLDER
// FOLDER gets the suite's results, one folder a run, and summary.txt. docs/conformance.md says how to read them.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { start_server } from '../interop/listening.mjs';
import { check, judge } from '../interop/verdict.mjs';
import { faults_of, numbers_of, unexplained } from './judgement.mjs';
import { results_in } from './results.mjs';
import { client_runs, entries_of, runs } from './runs.mjs';
import { run_suite } from './suite.mjs';

const [program, client, output] = process.argv.slice(2);
assert.ok(program && client && output, 'usage: node.sh conformance.mjs SERVER CLIENT FOLDER');
const folder = resolve(output);
const summary = [];

const place_of = (run) => join(folder, `${run.suite.version} ${run.name}`.replaceAll(' ', '_'));

/** The numbers of a run whose results are there. */
function judged(run, said, side) {
  const place = place_of(run);
  const results = results_in(place, side);
  const faults = faults_of(run, results, entries_of(run.suite.list, side));
  assert.ok(faults.length === 0, `${faults.length} faults; all that the suite said is in ${place}\n${faults.join('\n')}`);
  assert.equal(said.code, 0, `the suite ended with ${said.code}; all it said is in ${place}`);
  return numbers_of(run, results);
}

async function carry_out(run) {
  const server = await start_server([program, '0']);
  const said = await run_suite(run.suite, run.args, {
    subject: ['server', '--url', server.url],
    list: run.suite.list,
    folder: place_of(run),
    deadline_ms: 600_000,
  });
  writeFileSync(join(place_of(run), 'server.txt'), server.said());
  await server.stop();
  return judged(run, said, 'server');
}

/** The suite starts the client itself, once a scenario. */
async function carry_out_client(run) {
  const said = await run_suite(run.suite, run.args, {
    subject: ['client', '--command', client],
    list: run.suite.list,
    folder: place_of(run),
    deadline_ms: 600_000,
  });
  return judged(run, said, 'client');
}

await judge(async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const list of new Set(runs.map((run) => run.suite.list))) {
    await check(`each entry of ${basename(list)} says what it waits for`, () => {
      assert.deepEqual(unexplained([...entries_of(list), ...entries_of(list, 'client')]), []);
    });
  }
  for (const run of [...runs, ...client_runs]) {
    await check(`conformance ${run.suite.version}, ${run.name}`, async () => {
      const numbers = await (client_runs.includes(run) ? carry_out_client(run) : carry_out(run));
      summary.push(`conformance ${run.suite.version}, ${run.name}: ${numbers}\n`);
      return numbers;
    });
  }
  writeFileSync(join(folder, 'summary.txt'), summary.join(''));
});
