// Real clients of both eras hear of what happens on a real disk: files written, saved by renaming, made and deleted, and a work
// tree that git switches from one tag to another.
//
// Usage: node.sh watching.mjs HONDANA
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { start_server } from './listening.mjs';
import { all_peers } from './peers.mjs';
import { collect, read_now, subscriptions } from './subscribers.mjs';
import { check, judge, temporary_folder } from './verdict.mjs';

const program = process.argv[2];
const uris = (items) => items.map((one) => one.uri);

function write(folder, name, text) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

async function converse({ name, make }, folder) {
  const peer = make();
  const uri = (below) => `file://${folder}/${below}`;
  const updated = collect(peer, 'notifications/resources/updated');
  const list_changed = collect(peer, 'notifications/resources/list_changed');
  const subscribed = new subscriptions(peer);
  const listed = async () => (await peer.pages('resources/list', 'resources')).flat().map((one) => one.uri);

  await check(`${name}: hears of a file that is written, and reads what is new`, async () => {
    await peer.connect();
    assert.deepEqual(peer.client.getServerCapabilities().resources, { subscribe: true, listChanged: true });
    await listed();
    write(folder, 'notes.txt', 'before');
    await subscribed.add(uri('notes.txt'), uri('later.txt'), uri('notes.txt?lines=1'));
    updated.take();
    for (let round = 0; round < 5; ++round) {
      const text = `round ${round} of ${name}`;
      write(folder, 'notes.txt', text);
      await updated.until('the update', (items) => uris(items).includes(uri('notes.txt')) && uris(items).includes(uri('notes.txt?lines=1')));
      assert.equal(await read_now(peer, uri('notes.txt')), text);
      updated.take();
    }
  });
  await check(`${name}: hears of a file that is saved by renaming, and never reads half of it`, async () => {
    const text = 'saved\n'.repeat(50_000);
    write(folder, 'notes.txt~', text);
    renameSync(join(folder, 'notes.txt~'), join(folder, 'notes.txt'));
    await updated.until('the update', (items) => uris(items).includes(uri('notes.txt')));
    assert.equal(await read_now(peer, uri('notes.txt')), text);
  });
  await check(`${name}: hears of a file that was not there when it subscribed, and of the list`, async () => {
    list_changed.take();
    write(folder, 'later.txt', 'now');
    await updated.until('the update', (items) => uris(items).includes(uri('later.txt')));
    await list_changed.until('the changed list', (items) => items.length > 0);
    assert.ok((await listed()).includes(uri('later.txt')));
    list_changed.take();
    updated.take();
    rmSync(join(folder, 'later.txt'));
    await updated.until('the update', (items) => uris(items).includes(uri('later.txt')));
    await list_changed.until('the changed list', (items) => items.length > 0);
    assert.ok(!(await listed()).includes(uri('later.txt')));
  });
  await subscribed.end();
  await peer.close();
}

/** Two tags of a repository that differ in half of their files. */
function repository(folder) {
  const git = (...args) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: folder, stdio: 'pipe' });
  git('init', '-q');
  for (const [tag, from] of [['old', 0], ['new', 300]]) {
    rmSync(join(folder, 'src'), { recursive: true, force: true });
    for (let i = from; i < from + 600; ++i) write(folder, `src/d${i % 20}/f${i}.txt`, i % 2 === 0 ? 'the same' : `of ${tag}`);
    write(folder, 'sentinel', 'x');
    git('add', '-A');
    git('commit', '-qm', tag);
    git('tag', tag);
  }
  git('checkout', '-q', 'old');
  return git;
}

async function switch_tags({ name, make }, folder, git) {
  git('checkout', '-q', 'old');
  const peer = make();
  const file = (i) => `file://${folder}/src/d${i % 20}/f${i}.txt`;
  const sentinel = `file://${folder}/sentinel`;
  const updated = collect(peer, 'notifications/resources/updated');
  const list_changed = collect(peer, 'notifications/resources/list_changed');
  const subscribed = new subscriptions(peer);
  await peer.connect();
  await peer.pages('resources/list', 'resources');
  // Ten that go, ten that change, ten that stay as they are, ten that come, ten that never are there.
  const going = Array.from({ length: 10 }, (_, i) => file(i));
  const changing = Array.from({ length: 10 }, (_, i) => file(301 + 2 * i));
  const staying = Array.from({ length: 10 }, (_, i) => file(300 + 2 * i));
  const coming = Array.from({ length: 10 }, (_, i) => file(700 + i));
  const absent = Array.from({ length: 10 }, (_, i) => file(2000 + i));
  await subscribed.add(sentinel, ...going, ...changing, ...staying, ...coming, ...absent);
  const settle = async () => {
    writeFileSync(join(folder, 'sentinel'), `${process.hrtime.bigint()}`);
    await updated.until('the sentinel', (items) => uris(items).includes(sentinel));
  };
  await settle();
  updated.take();
  list_changed.take();
  git('checkout', '-qf', 'new');
  await list_changed.until('the changed list', (items) => items.length > 0);
  const expected = [...going, ...changing, ...coming];
  await updated.until('the updates', (items) => expected.every((one) => uris(items).includes(one)));
  await settle();
  const told = new Set(uris(updated.items).filter((one) => one !== sentinel));
  assert.deepEqual([...told].sort(), expected.sort());
  // A list that was asked for too early is followed by another notification, when everything has been quiet for a while.
  for (let heard = list_changed.items.length; ; heard = list_changed.items.length) {
    const listed = (await peer.pages('resources/list', 'resources')).flat().map((one) => one.uri);
    if (listed.filter((one) => one.endsWith('.txt')).length === 600) break;
    await list_changed.until('another changed list', (items) => items.length > heard);
  }
  // How many there are depends on how long the checkout takes; it changes 900 files.
  const lists = list_changed.items.length;
  assert.ok(lists <= 45, `${lists} changed lists`);
  await subscribed.end();
  await peer.close();
  return `${told.size} updates, ${lists} changed list${lists === 1 ? '' : 's'}`;
}

await judge(async () => {
  const folder = temporary_folder();
  const server = await start_server([program, 'serve', '--port', '0', folder]);
  for (const one of all_peers(['stdio', folder], () => server.url)) await converse(one, folder);
  await server.stop();

  const tree = temporary_folder();
  const git = repository(tree);
  const other = await start_server([program, 'serve', '--port', '0', tree]);
  for (const one of all_peers(['stdio', tree], () => other.url)) {
    await check(`${one.name}: hears exactly what a checkout changes`, () => switch_tags(one, tree, git));
  }
  await check('the server ends with 0 on SIGTERM', () => other.stop());
});
