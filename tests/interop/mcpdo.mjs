// The Inspector's mcpdo, which keeps connections in a daemon: it subscribes to notes that change, in both eras, over stdio and HTTP.
//
// Usage: node.sh mcpdo.mjs CHANGING_SERVER
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { free_port } from './free_port.mjs';
import { is_running } from './hondana.mjs';
import { start_server } from './listening.mjs';
import { inbox } from './subscribers.mjs';
import { check, event_deadline, finally_do, judge, temporary_folder, within } from './verdict.mjs';

const changing = process.argv[2];
const mcpdo = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/.bin/mcpdo');
const home = temporary_folder();
const daemon = join(home, 'daemon');
const env = {
  ...process.env,
  HOME: home,
  NO_COLOR: '1',
  MCP_INSPECTOR_SECRET_STORE: 'file',
  MCP_INSPECTOR_DAEMON_DIR: daemon,
  MCP_INSPECTOR_DAEMON_TOKEN: 'only for this test, and long enough'.replaceAll(' ', '-'),
};
const run = promisify(execFile);

/** One command of mcpdo; what it prints. */
async function ask(...args) {
  const options = { env, timeout: event_deadline, killSignal: 'SIGKILL', maxBuffer: 1 << 24 };
  const { stdout } = await run(process.execPath, [mcpdo, '--format', 'json', ...args], options);
  return JSON.parse(stdout);
}

/** Splits a text of indented JSON objects, each ending with a line that is a brace alone. */
function* objects(text) {
  for (const part of text.split(/(?<=^\})\n/m)) {
    if (part.endsWith('}')) yield JSON.parse(part);
  }
}

/** A subscription that lasts until `end`: what mcpdo prints of it, as it comes. */
function subscribe(connection, uri) {
  const child = spawn(process.execPath, [mcpdo, '--format', 'json', '--connection', connection, 'resources/subscribe', uri], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  finally_do(() => child.kill('SIGKILL'));
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  const events = new inbox();
  let text = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (more) => {
    text += more;
    for (const event of [...objects(text)].slice(events.items.length)) events.put(event);
  });
  child.stderr.setEncoding('utf8').on('data', (more) => (complaint += more));
  const end = async () => {
    assert.equal(child.exitCode, null, `the subscription ended by itself: ${complaint}`);
    child.kill('SIGINT');
    await within('the end of the subscription', exited);
  };
  return { events, end };
}

const of_type = (events, type) => events.filter((event) => event.type === type);

async function converse(name, era, target) {
  let connection;
  await check(`${name}: connects in that era`, async () => {
    const made = await ask('connect', '--era', era, ...target);
    assert.equal(made.protocolEra, era);
    connection = made.name;
  });
  await check(`${name}: lists and reads notes`, async () => {
    const { resources } = await ask('--connection', connection, 'resources/list');
    assert.ok(resources.some((one) => one.uri === 'note:///0'), JSON.stringify(resources).slice(0, 500));
    const { contents } = await ask('--connection', connection, 'resources/read', 'note:///0');
    assert.match(contents[0].text, /^note 0, version \d+$/);
  });
  await check(`${name}: a note it subscribed to changes, and the update arrives; of another note nothing is heard`, async () => {
    const { events, end } = subscribe(connection, 'note:///1');
    await events.until('the subscription', (items) => of_type(items, 'subscribed').length === 1);
    await ask('--connection', connection, 'resources/read', 'change:///2');
    await ask('--connection', connection, 'resources/read', 'change:///1');
    await events.until('the update', (items) => of_type(items, 'resources/updated').length > 0);
    assert.deepEqual(events.items, [
      { type: 'subscribed', uri: 'note:///1' },
      { type: 'resources/updated', uri: 'note:///1' },
    ]);
    await end();
  });
  await check(`${name}: disconnects`, async () => {
    await ask('disconnect', connection);
    assert.deepEqual((await ask('connections/list')).connections, []);
  });
}

/** The server is killed and started again under its address: the connection heals when it is used next. */
async function recover(era) {
  const first = await start_server([changing, String(await free_port())]);
  const connection = (await ask('connect', '--era', era, first.url)).name;
  await ask('--connection', connection, 'resources/read', 'note:///0');
  await first.kill();
  const second = await start_server([changing, first.port]);
  const { contents } = await ask('--connection', connection, 'resources/read', 'note:///0');
  assert.equal(contents[0].text, 'note 0, version 1');
  const { events, end } = subscribe(connection, 'note:///1');
  await events.until('the subscription', (items) => of_type(items, 'subscribed').length === 1);
  await ask('--connection', connection, 'resources/read', 'change:///1');
  await events.until('the update', (items) => of_type(items, 'resources/updated').length > 0);
  await end();
  await ask('disconnect', connection);
  await second.stop();
}

await judge(async () => {
  mkdirSync(daemon, { mode: 0o700 });
  let pid;
  finally_do(() => {
    if (pid !== undefined && is_running(pid)) process.kill(pid, 'SIGKILL');
  });
  const server = await start_server([changing, '0']);
  for (const era of ['legacy', 'modern']) {
    await converse(`mcpdo, ${era}, over HTTP`, era, [server.url]);
    pid ??= (await ask('daemon', 'status')).pid;
    await converse(`mcpdo, ${era}, over stdio`, era, ['--', changing, 'stdio']);
    await check(`mcpdo, ${era}: recovers from a server that was killed and started again`, () => recover(era));
  }
  await check('the server ends with 0 on SIGTERM', () => server.stop());
  await check("mcpdo's daemon stops", async () => {
    assert.ok(Number.isInteger(pid) && is_running(pid), `the daemon's process id is ${pid}`);
    await ask('daemon', 'stop');
  });
});
