// The Inspector's command line lists, finds templates and reads this repository, over stdio and HTTP, in both eras.
//
// Usage: node.sh inspector.mjs HONDANA REPOSITORY
// Its command line has no method for completions; clients.mjs completes with the client that the Inspector is built on.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { program, serve } from './hondana.mjs';
import { compare_with_git, copy_of, expect_content, uri_of, work_tree } from './repository.mjs';
import { check, event_deadline, judge, temporary_folder } from './verdict.mjs';

const repository = copy_of(work_tree(process.argv[3]));
const inspector = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/.bin/mcp-inspector');
const home = temporary_folder();
const run = promisify(execFile);

/** One run of the Inspector; the result it prints. */
async function inspect(target, era, method, ...more) {
  const args = [inspector, '--cli', '--format', 'json', '--quiet', '--protocol-era', era, '--method', method, ...more, ...target];
  const env = { ...process.env, HOME: home, NO_COLOR: '1' };
  const { stdout } = await run(process.execPath, args, { env, timeout: event_deadline, maxBuffer: 1 << 26 });
  const answer = JSON.parse(stdout);
  return answer.result ?? answer;
}

/** The envelope of the error that a run must end with. */
async function refused(target, era, method, ...more) {
  const failure = await inspect(target, era, method, ...more).then(
    () => assert.fail('the Inspector reports no error'),
    (error) => error,
  );
  assert.equal(typeof failure.code, 'number', String(failure));
  return failure.stderr;
}

async function converse(name, target, era) {
  await check(`${name}: initialize settles on the revision of the era`, async () => {
    const { serverInfo, protocolVersion } = await inspect(target, era, 'initialize');
    assert.equal(serverInfo.name, 'hondana');
    assert.equal(protocolVersion, era === 'modern' ? '2026-07-28' : '2025-11-25');
  });
  await check(`${name}: resources/list has the files that git lists`, async () => {
    const { resources } = await inspect(target, era, 'resources/list');
    const { listed, denied } = compare_with_git(repository, resources);
    return `${listed.size} files, ${denied.length} denied: ${denied.join(' ')}`;
  });
  await check(`${name}: resources/templates/list has the template of the folder`, async () => {
    const { resourceTemplates } = await inspect(target, era, 'resources/templates/list');
    assert.deepEqual(
      resourceTemplates.map((one) => one.uriTemplate),
      [`${uri_of(repository)}/{+path}{?lines,bytes}`],
    );
  });
  await check(`${name}: resources/read gives the bytes of a file, and its lines 1 to 3`, async () => {
    const uri = uri_of(join(repository, 'LICENSE'));
    const whole = await inspect(target, era, 'resources/read', '--uri', uri);
    expect_content(whole.contents, uri, join(repository, 'LICENSE'));
    const part = await inspect(target, era, 'resources/read', '--uri', `${uri}?lines=1-3`);
    assert.equal(part.contents[0].text, whole.contents[0].text.split('\n').slice(0, 3).join('\n') + '\n');
  });
  await check(`${name}: resources/read of what is not there is an error that says so`, async () => {
    const said = await refused(target, era, 'resources/read', '--uri', uri_of(join(repository, 'nothing-here')));
    assert.equal(JSON.parse(said).error.message, 'Resource not found');
  });
}

await judge(async () => {
  const server = await serve(['--no-git', repository]);
  const over_stdio = ['--', program, 'stdio', '--no-git', repository];
  const over_http = ['--transport', 'http', '--server-url', server.url];
  for (const era of ['legacy', 'modern']) {
    await converse(`Inspector, ${era}, over stdio`, over_stdio, era);
    await converse(`Inspector, ${era}, over HTTP`, over_http, era);
  }
  await check('hondana serve ends with 0 on SIGTERM', () => server.stop());
});
