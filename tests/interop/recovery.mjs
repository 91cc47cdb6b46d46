// A server is killed in the middle of things and started again under its address: real clients notice, and go on.
//
// Usage: node.sh recovery.mjs CHANGING_SERVER
import assert from 'node:assert/strict';
import { free_port } from './free_port.mjs';
import { start_server } from './listening.mjs';
import { all_peers } from './peers.mjs';
import { collect, read_now, subscriptions } from './subscribers.mjs';
import { check, judge, within } from './verdict.mjs';

const program = process.argv[2];

async function connected(make) {
  const peer = make();
  const updated = collect(peer, 'notifications/resources/updated');
  await peer.connect();
  const subscribed = new subscriptions(peer);
  await subscribed.add('note:///1');
  return { peer, updated, subscribed };
}

/** A changed note is heard of and read: everything works. */
async function expect_updates({ peer, updated }) {
  updated.take();
  await read_now(peer, 'change:///1');
  await updated.until('the update of note 1', (items) => items.some((one) => one.uri === 'note:///1'));
  assert.match(await read_now(peer, 'note:///1'), /^note 1, version \d+$/);
}

/** The error that a promise ends with, soon. */
function refused(what, promise) {
  const failure = promise.then(
    (value) => assert.fail(`${what} succeeded: ${value}`),
    (error) => error,
  );
  return within(`the failure of ${what}`, failure);
}

/** A read that nobody releases, taken up by the server: one sent after it has been answered. */
async function hold(peer, options = {}) {
  const held = read_now(peer, 'held:///nobody', options);
  held.catch(() => undefined);
  await read_now(peer, 'note:///0');
  return { held };
}

/** The clients of HTTP+SSE wait for a lost stream to come back, and with it for what was to come by it: until their deadline. */
const patience = (name) => (name.endsWith('HTTP+SSE') ? { timeout: 2000 } : {});

async function over_http(name, make, at) {
  let server = await start_server([program, String(await free_port())]);
  at.url = server.url;
  const before = await connected(make);
  await check(`${name}: hears of changes before the server is killed`, () => expect_updates(before));
  await check(`${name}: what was under way when the server was killed fails, and soon`, async () => {
    const { held } = await hold(before.peer, patience(name));
    await server.kill();
    await refused('the read that was under way', held);
    await refused('a read from a server that is not there', read_now(before.peer, 'note:///0'));
  });
  server = await start_server([program, server.port]);
  if (before.peer.era === 'modern') {
    await check(`${name}: goes on with the new server as if nothing had happened, and listens again`, async () => {
      assert.equal(await read_now(before.peer, 'note:///1'), 'note 1, version 1');
      assert.equal(await within('the end of the old stream', before.subscribed.stream.closed), 'remote');
      await before.subscribed.add('note:///1');
      await expect_updates(before);
      await before.subscribed.end();
      await before.peer.close();
    });
  } else {
    await check(`${name}: is told with 404 that its session is gone, initialises anew and goes on`, async () => {
      const gone = await refused('a read in a session of the old server', read_now(before.peer, 'note:///1'));
      assert.match(`${gone.code} ${gone.status} ${gone.message}`, /404/, String(gone));
      await before.peer.client.close();
      const after = await connected(make);
      await expect_updates(after);
      await after.peer.close();
    });
  }
  await check(`${name}: the new server ends with 0 on SIGTERM`, () => server.stop());
}

async function over_stdio(name, make) {
  await check(`${name}: a killed server ends what was under way, and a new one is started by connecting again`, async () => {
    const before = await connected(make);
    const { held } = await hold(before.peer);
    process.kill(before.peer.pid, 'SIGKILL');
    await refused('the read that was under way', held);
    const after = await connected(make);
    await expect_updates(after);
    await after.subscribed.end();
    await after.peer.close();
  });
}

await judge(async () => {
  const at = {};
  for (const { name, make } of all_peers(['stdio'], () => at.url)) {
    if (name.endsWith('over stdio')) await over_stdio(name, make);
    else await over_http(name, make, at);
  }
});
