// The judge of the conformance runs is itself judged: what must fail a run does, with the real suite and hondana serve.
//
// Usage: node.sh self_test.mjs HONDANA
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { start_server } from '../interop/listening.mjs';
import { check, judge, temporary_folder } from '../interop/verdict.mjs';
import { faults_of, numbers_of, unexplained } from './judgement.mjs';
import { results_in, verdict_of } from './results.mjs';
import { entries_of, runs } from './runs.mjs';
import { run_suite } from './suite.mjs';

const program = process.argv[2];
const folder = temporary_folder();
const suites = [...new Set(runs.map((run) => run.suite))];

function list_of(...lines) {
  const path = join(folder, 'list.yaml');
  writeFileSync(path, `server:${lines.length === 0 ? ' []' : ''}\n${lines.map((line) => `  - ${line}\n`).join('')}`);
  return path;
}

/** One scenario of `suite` against `server`, with that list: the suite's exit code and the faults we find. */
async function one_scenario(suite, server, scenario, list, run = {}) {
  const place = join(folder, 'results');
  const args = { subject: ['server', '--url', server.url], list, folder: place, deadline_ms: 600_000 };
  const { code } = await run_suite(suite, ['--scenario', scenario], args);
  return { code, faults: faults_of(run, results_in(place), entries_of(list)) };
}

await judge(async () => {
  const server = await start_server([program, 'serve', '--port', '0', folder]);
  for (const suite of suites) {
    await check(`${suite.version}: a scenario that passes and is not listed is no fault`, async () => {
      assert.deepEqual(await one_scenario(suite, server, 'ping', list_of()), { code: 0, faults: [] });
    });
    await check(`${suite.version}: a listed scenario that passes fails the run until the list is cut`, async () => {
      const { code, faults } = await one_scenario(suite, server, 'ping', list_of('ping # issue 3'));
      assert.notEqual(code, 0);
      assert.deepEqual(faults, ['ping: on the list, but its scenario does not fail (passed): take it off the list']);
    });
    await check(`${suite.version}: a scenario that fails and is not listed fails the run and is named`, async () => {
      const { code, faults } = await one_scenario(suite, server, 'tools-call-simple-text', list_of());
      assert.notEqual(code, 0);
      assert.match(faults.join('\n'), /^tools-call-simple-text:tools-call-simple-text: FAILURE: /m);
    });
    await check(`${suite.version}: a listed scenario that fails is no fault, unless it is scored`, async () => {
      const list = list_of('tools-call-simple-text # issue 3');
      const scored = new Set(['tools-call-simple-text']);
      const [free, bound] = [
        await one_scenario(suite, server, 'tools-call-simple-text', list),
        await one_scenario(suite, server, 'tools-call-simple-text', list, { scored }),
      ];
      assert.deepEqual(free, { code: 0, faults: [] });
      assert.match(bound.faults.join('\n'), /it is scored and must pass/);
    });
  }
  await check('the server ends in order', () => server.stop());

  await check('a server that is not there fails every scenario', async () => {
    const { code, faults } = await one_scenario(suites[0], server, 'ping', list_of());
    assert.notEqual(code, 0);
    assert.match(faults.join('\n'), /^ping:ping: FAILURE: /m);
  });
  await check('an entry without a comment, or whose comment names nothing, is not accepted', () => {
    const list = list_of('one # extension io.modelcontextprotocol/tasks', 'two', 'three # later', 'four:part # issue 12');
    assert.deepEqual(unexplained(entries_of(list)), ['two', 'three']);
    assert.deepEqual(entries_of(list).map((one) => one.scenario), ['one', 'two', 'three', 'four']);
  });
  await check('an entry that names no scenario, and a scored scenario that was not run, are faults', () => {
    const results = new Map([['one', { checks: [], verdict: 'failed' }]]);
    const list = entries_of(list_of('one # issue 1', 'won # issue 1'));
    assert.deepEqual(faults_of({ complete: true }, results, list), ['won: on the list, but no scenario of the suite']);
    assert.deepEqual(faults_of({ scored: new Set(['two']) }, results, []), ['two: not run']);
    assert.deepEqual(faults_of({}, new Map(), []), ['no scenario was run']);
  });
  await check('a scenario of a declared extension that is skipped or not run is a fault', () => {
    const results = new Map(['passed', 'inapplicable'].map((one) => [one, { checks: [], verdict: one }]));
    assert.deepEqual(faults_of({ declared: ['passed', 'inapplicable', 'other'] }, results, []), [
      'inapplicable: of an extension that is declared, but inapplicable',
      'other: of an extension that is declared, but not run',
    ]);
  });
  await check('warnings fail a scenario, skipped checks alone do not pass it, and no check at all is no pass', () => {
    const verdict = (...statuses) => verdict_of(statuses.map((status, i) => ({ status, id: `check ${i}` })));
    assert.equal(verdict('SUCCESS', 'INFO'), 'passed');
    assert.equal(verdict('SUCCESS', 'WARNING'), 'failed');
    assert.equal(verdict('SUCCESS', 'SKIPPED'), 'passed');
    assert.equal(verdict('SKIPPED', 'SKIPPED'), 'inapplicable');
    assert.equal(verdict('INFO'), 'undone');
    assert.equal(verdict_of([{ status: 'SUCCESS', id: 'wire-schema-valid' }]), 'undone');
    const results = new Map(['passed', 'failed', 'inapplicable'].map((one) => [one, { checks: [], verdict: one }]));
    assert.equal(numbers_of({}, results), '1 of 3, 1 fail as listed, 1 not applicable');
    assert.equal(numbers_of({ scored: new Set(['passed']) }, results), '1 of 1 scored, and 0 of 2 not scored');
  });
});
