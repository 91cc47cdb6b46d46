// server-everything mounted under ours by a table of the configuration: real clients of both eras list, read, complete and hear
// of changes through us; and it is killed under us, and is there again.
//
// Usage: node.sh mounting.mjs HONDANA
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { start_server } from './listening.mjs';
import { all_peers } from './peers.mjs';
import { collect, read_now, subscriptions } from './subscribers.mjs';
import { check, event_deadline, eventually, judge, temporary_folder } from './verdict.mjs';

const program = process.argv[2];
const documents = join(dirname(fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))), 'docs');
const mounted = (theirs) => `mcp://everything/demo://resource/${theirs}`;
const text_template = mounted('dynamic/text/{resourceId}');
const blob_template = mounted('dynamic/blob/{resourceId}');

function configuration(folder, table) {
  const file = join(folder, 'hondana.toml');
  writeFileSync(file, table);
  return file;
}

const everything_table = (more = '') => `[[source]]
type = "mcp"
name = "everything"
timeout_ms = 180000
list_timeout_ms = 180000
command = [${JSON.stringify(process.execPath)}, ${JSON.stringify(fileURLToPath(new URL('everything_told.mjs', import.meta.url)))}]
${more}
`;

async function converse({ name, make }, number) {
  const peer = make();
  const updated = collect(peer, 'notifications/resources/updated');
  const list_changed = collect(peer, 'notifications/resources/list_changed');
  const subscribed = new subscriptions(peer);

  await check(`${name}: lists and reads all documents of the mounted server`, async () => {
    await peer.connect();
    const names = readdirSync(documents).filter((one) => one.endsWith('.md')).sort();
    assert.ok(names.length > 5);
    assert.deepEqual((await peer.listed()).map((one) => one.uri), names.map((one) => mounted(`static/document/${one}`)));
    for (const one of names) {
      const uri = mounted(`static/document/${one}`);
      const { contents } = await peer.read(uri);
      assert.equal(contents.length, 1);
      assert.equal(contents[0].uri, uri);
      assert.equal(contents[0].text, readFileSync(join(documents, one), 'utf8'));
    }
    return `${names.length} documents`;
  });
  await check(`${name}: completes its templates and reads what they give`, async () => {
    const templates = (await peer.pages('resources/templates/list', 'resourceTemplates')).flat().map((one) => one.uriTemplate);
    assert.deepEqual(templates, [blob_template, text_template]);
    assert.deepEqual((await peer.complete(text_template, 'resourceId', '17')).values, ['17']);
    assert.deepEqual((await peer.complete(text_template, 'resourceId', 'no number')).values, []);
    const text = peer.expand(text_template, { resourceId: '17' });
    assert.match(await read_now(peer, text), /^Resource 17: This is a plaintext resource/);
    const blob = (await peer.read(peer.expand(blob_template, { resourceId: '18' }))).contents[0];
    assert.equal(blob.text, undefined);
    assert.match(Buffer.from(blob.blob, 'base64').toString(), /^Resource 18: This is a base64 blob/);
  });
  await check(`${name}: hears what the mounted server refuses, and from whom`, async () => {
    const refused = await peer.refused(peer.read(mounted('dynamic/text/none')));
    assert.match(refused.message, /everything|not found/i);
    const absent = await peer.refused(peer.read('mcp://everything/other://nothing'));
    assert.match(absent.message, /everything|not found/i);
    return `${refused.code} ${refused.message}; ${absent.code} ${absent.message}`;
  });
  await check(`${name}: subscribes through us and hears the updates that it simulates`, async () => {
    const uri = mounted(`dynamic/text/${number}`);
    await subscribed.add(uri);
    // The first may be ours, for what could have changed before the subscription stood; the next is the mounted server's.
    await updated.until('two updates', (items) => items.filter((one) => one.uri === uri).length >= 2);
    assert.deepEqual([...new Set(updated.items.map((one) => one.uri))], [uri]);
    assert.equal(list_changed.items.length, 0);
    await subscribed.end();
  });
  await check(`${name}: ends without an error`, async () => {
    await peer.close();
    assert.deepEqual(peer.errors.map((one) => one.message), []);
  });
}

/** The ids of processes that the program with this id started, but for the copy of itself that starts them. */
function children_of(pid) {
  const task = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const tasks = readdirSync(`/proc/${pid}/task`).map((one) => readFileSync(`/proc/${pid}/task/${one}/children`, 'utf8'));
  const all = [...new Set([task, ...tasks].join(' ').split(/\s+/).filter(Boolean).map(Number))];
  const own = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  return all.filter((one) => readFileSync(`/proc/${one}/cmdline`, 'utf8') !== own);
}

async function survive(file) {
  const server = await start_server([program, 'serve', '--config', file, '--port', '0']);
  const peer = all_peers([], () => server.url).find((one) => one.name === 'client 2.4, auto over HTTP').make();
  const updated = collect(peer, 'notifications/resources/updated');
  const subscribed = new subscriptions(peer);
  await peer.connect();
  const uri = mounted('static/document/features.md');
  await subscribed.add(uri);
  await updated.until('two updates', (items) => items.length >= 2);
  const before = children_of(server.pid);
  assert.equal(before.length, 1);
  process.kill(before[0], 'SIGKILL');
  updated.take();
  await updated.until('updates of the one that was started again', (items) => items.length >= 2);
  const after = children_of(server.pid);
  assert.equal(after.length, 1);
  assert.notEqual(after[0], before[0]);
  // The new process may still be starting.
  await eventually(async () => assert.match(await read_now(peer, uri), /./));
  await subscribed.end();
  await peer.close();
  await server.stop();
}

await judge(async () => {
  const folder = temporary_folder();
  const file = configuration(folder, everything_table());
  const server = await start_server([program, 'serve', '--config', file, '--port', '0']);
  let number = 0;
  for (const one of all_peers(['stdio', '--config', file], () => server.url)) await converse(one, ++number);
  await check('the server ends with 0 on SIGTERM', () => server.stop());
  await check('a mounted server that is killed is started again, and its updates go on', () => survive(file));

  await check('check says what is served and what the rules leave out', () => {
    const table = everything_table('exclude = ["**/features.md"]');
    const said = execFileSync(program, ['check', '--config', configuration(temporary_folder(), table)], { encoding: 'utf8', stdio: 'pipe' });
    assert.match(said, /\+ startup\.md/);
    assert.match(said, /- .*features\.md/);
    assert.match(said, /6 served, 1 left out/);
  });
  await check('check says which server cannot be reached, and ends with an error', () => {
    const table = '[[source]]\ntype = "mcp"\nname = "nobody"\ncommand = ["/nowhere/at/all"]\n';
    const done = spawnSync(program, ['check', '--config', configuration(temporary_folder(), table)], { encoding: 'utf8' });
    assert.notEqual(done.status, 0);
    assert.match(done.stdout + done.stderr, /"nobody".*\/nowhere\/at\/all/s);
  });
  await check('schemes shows how URIs of mounts are made', () => {
    assert.match(execFileSync(program, ['schemes'], { encoding: 'utf8' }), /mcp:\/\/NAME\/URI/);
  });
  await check('a server that mounts itself as a process says so instead of starting itself again and again', () => {
    const home = temporary_folder();
    const own = join(home, 'hondana.toml');
    const table = `[[source]]\ntype = "mcp"\nname = "self"\ncommand = [${JSON.stringify(program)}, "stdio", "--config", ${JSON.stringify(own)}]\n`;
    configuration(home, table);
    const done = spawnSync(program, ['check', '--config', own], { encoding: 'utf8', timeout: event_deadline });
    assert.equal(done.signal, null);
    const said = done.stdout + done.stderr;
    assert.match(said, /circle/);
    assert.ok(said.split('connected to').length <= 4, said);
  });
});
