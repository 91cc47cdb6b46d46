// The program as a client: ls, read, complete and watch of servers by others, over stdio, Streamable HTTP and HTTP+SSE, and of ours.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, openSync, readFileSync, readdirSync, truncateSync, writeFileSync, writeSync, closeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { free_port } from './free_port.mjs';
import { program, serve } from './hondana.mjs';
import { blob } from './modern_server.mjs';
import { check, finally_do, judge, temporary_folder, within } from './verdict.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const everything = join(here, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const modern = join(here, 'modern_server.mjs');
const loopback = join(here, 'loopback.mjs');
const instructions = 'demo://resource/static/document/instructions.md';

/** Runs the program to its end: its output as bytes. */
async function hondana(...args) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = [];
  let said = '';
  child.stdout.on('data', (piece) => printed.push(piece));
  child.stderr.setEncoding('utf8').on('data', (text) => (said += text));
  const [code] = await within(`hondana ${args.join(' ')}`, once(child, 'close'));
  assert.equal(code, 0, `hondana ${args.join(' ')} left with ${code} and said:\n${said}`);
  return Buffer.concat(printed);
}

const text = async (...args) => (await hondana(...args)).toString();
const json = async (target, ...words) => JSON.parse(await text(...at(target, ...words, '--json')));

/** Adds where the server is: the command of one comes last. */
const at = (target, ...words) => {
  return target.url ? [...words, '--on', target.url] : [...words, '--', ...target.command];
};

/** Starts a server of Node's and waits for a line of its stderr. */
async function started(args, env, line) {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  finally_do(async () => {
    const left = once(child, 'exit');
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await left;
  });
  let said = '';
  await within(
    `the server ${args.join(' ')}`,
    new Promise((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (piece) => {
        said += piece;
        if (line.test(said)) resolve();
      });
      child.once('exit', (code) => reject(new Error(`it ended with ${code}:\n${said}`)));
    }),
  );
  return said;
}

async function everything_over(kind, path) {
  const port = await free_port();
  await started(['--import', loopback, everything, kind], { PORT: String(port) }, /(running|listening) on port/);
  return { url: `http://127.0.0.1:${port}${path}` };
}

/** Lines of `hondana watch --json`: `next` waits for one that tells `change`; `end` interrupts it, which must end it well. */
function watching(target, ...words) {
  const child = spawn(program, at(target, 'watch', ...words, '--json'), { stdio: ['ignore', 'pipe', 'pipe'] });
  const left = once(child, 'close');
  finally_do(async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await left;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let said = '';
  const listens = new Promise((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (piece) => {
      said += piece;
      if (said.includes('hondana: watching')) resolve();
    });
  });
  const next = async (change) => {
    for (;;) {
      const { value, done } = await lines.next();
      assert.ok(!done, `the watch ended and said:\n${said}`);
      const news = JSON.parse(value);
      if (news.change === change) return news;
    }
  };
  const end = async () => {
    child.kill('SIGINT');
    const [code] = await within('the end of hondana watch', left);
    assert.equal(code, 0, said);
  };
  return { next: (change) => within(`a change ${change}; said: ${said}`, next(change)), listens, end };
}

async function check_everything(name, target) {
  await check(`server-everything over ${name}: ls`, async () => {
    const uris = (await text(...at(target, 'ls'))).split('\n').slice(0, -1);
    assert.ok(uris.includes(instructions), uris.join('\n'));
    const { resources } = await json(target, 'ls');
    assert.deepEqual(resources.map((one) => one.uri), uris);
    return `${uris.length} entries`;
  });
  await check(`server-everything over ${name}: read`, async () => {
    const expected = readFileSync(join(dirname(everything), 'docs/instructions.md'));
    for (const word of [instructions, 'instructions.md', 'document/instructions.md'])
      assert.deepEqual(await hondana(...at(target, 'read', word)), expected, word);
    const cut = await text(...at(target, 'read', instructions, '--lines', '1-2'));
    assert.equal(cut, expected.toString().split('\n').slice(0, 2).join('\n') + '\n');
  });
  await check(`server-everything over ${name}: a blob is read as its bytes`, async () => {
    const got = await text(...at(target, 'read', 'demo://resource/dynamic/blob/{resourceId}', '--with', 'resourceId=7'));
    assert.match(got, /^Resource 7: This is a base64 blob created at /);
  });
  await check(`server-everything over ${name}: complete`, async () => {
    const template = 'demo://resource/dynamic/text/{resourceId}';
    assert.ok((await text(...at(target, 'templates'))).includes(`${template}\t`));
    assert.equal(await text(...at(target, 'complete', template, 'resourceId', '42')), '42\n');
  });
}

judge(async () => {
  const by_stdio = { command: [process.execPath, everything, 'stdio'] };
  await check_everything('stdio', by_stdio);
  const by_http = await everything_over('streamableHttp', '/mcp');
  await check_everything('Streamable HTTP', by_http);
  const by_sse = await everything_over('sse', '/sse');
  await check_everything('HTTP+SSE', by_sse);

  // It tells changes only to the session that called its tool for it; that it took the subscription is on the wire.
  for (const [name, target] of Object.entries({ stdio: by_stdio, 'Streamable HTTP': by_http, 'HTTP+SSE': by_sse })) {
    await check(`server-everything over ${name}: watch subscribes and ends well`, async () => {
      const trace = join(temporary_folder(), 'trace');
      const watch = watching(target, instructions, '--trace', trace);
      await within('the watch to listen', watch.listens);
      await watch.end();
      const wire = readFileSync(trace, 'utf8').split('\n').slice(0, -1);
      const asked = wire.filter((line) => line.startsWith('-> ') && JSON.parse(line.slice(3)).method === 'resources/subscribe');
      assert.equal(asked.length, 1, wire.join('\n'));
      const { id } = JSON.parse(asked[0].slice(3));
      assert.ok(wire.some((line) => line.startsWith('<- ') && JSON.parse(line.slice(3)).id === id && line.includes('"result"')));
    });
  }

  const said = await started([modern, 'http'], {}, /\/mcp\n/);
  for (const [name, target] of Object.entries({
    'stdio': { command: [process.execPath, modern, 'stdio'] },
    'HTTP': { url: /http:\S+/.exec(said)[0] },
  })) {
    await check(`SDK 2.4 over ${name}: it is a modern server`, async () => {
      assert.equal((await json(target, 'info')).revision, '2026-07-28');
    });
    await check(`SDK 2.4 over ${name}: ls, read and complete`, async () => {
      assert.equal(await text(...at(target, 'ls')), 'demo://notes\ndemo://blob\n');
      assert.equal(await text(...at(target, 'read', 'demo://colours/{name}', '--with', 'name=red')), 'it is red');
      assert.equal(await text(...at(target, 'complete', 'demo://colours/{name}', 'name', 'gr')), 'green\ngrey\n');
    });
    await check(`SDK 2.4 over ${name}: a blob is byte-exact`, async () => {
      const file = join(temporary_folder(), 'blob');
      assert.deepEqual(await hondana(...at(target, 'read', 'demo://blob')), blob);
      await hondana(...at(target, 'read', 'demo://blob', '-o', file));
      assert.deepEqual(readFileSync(file), blob);
    });
  }
  await check('SDK 2.4 over HTTP: watch tells a change', async () => {
    const target = { url: /http:\S+/.exec(said)[0] };
    const watch = watching(target, 'demo://notes');
    await within('the watch to listen', watch.listens);
    assert.equal(await text(...at(target, 'call', 'touch')), 'touched 1 times\n');
    assert.equal((await watch.next('resource')).uri, 'demo://notes');
    await watch.end();
  });

  const shelf = temporary_folder();
  writeFileSync(join(shelf, 'a.txt'), 'hello');
  writeFileSync(join(shelf, 'b.bin'), blob);
  const big = join(shelf, 'big.bin');
  const server = await serve([shelf]);
  for (const [name, target] of Object.entries({ HTTP: { url: server.url }, stdio: { command: [program, 'stdio', shelf] } })) {
    await check(`ours over ${name}: ls, read, complete and watch`, async () => {
      assert.ok((await text(...at(target, 'ls'))).includes(`file://${shelf}/a.txt\n`));
      assert.deepEqual(await hondana(...at(target, 'read', `file://${shelf}/b.bin`)), blob);
      const [template] = (await text(...at(target, 'templates'))).split('\t');
      assert.equal(await text(...at(target, 'complete', template, 'path', 'b.b')), 'b.bin\n');
      const watch = watching(target, `file://${shelf}/a.txt`);
      await within('the watch to listen', watch.listens);
      writeFileSync(join(shelf, 'a.txt'), `hello ${name}`);
      assert.equal((await watch.next('resource')).uri, `file://${shelf}/a.txt`);
      await watch.end();
    });
  }

  await check('ours: a read of 256 MiB into a file costs constant memory', async () => {
    const size = 1 << 28;
    const piece = Buffer.from(Array.from({ length: 1 << 20 }, (_, i) => (i * 2654435761) >>> 24));
    const file = openSync(big, 'w');
    const expected = createHash('sha256');
    for (let at = 0; at < size; at += piece.length) {
      piece.writeUInt32LE(at, 0);
      writeSync(file, piece);
      expected.update(piece);
    }
    closeSync(file);
    const limits = join(shelf, 'limits.toml');
    writeFileSync(limits, `max_read_bytes = "1GiB"\n[[source]]\ntype = "files"\npath = "."\n`);
    const generous = await serve(['--config', limits]);
    const out = join(temporary_folder(), 'out');
    const child = spawn(program, ['read', `file://${big}`, '-o', out, '--on', generous.url], { stdio: ['ignore', 'ignore', 'pipe'] });
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (more) => (complaints += more));
    let peak = 0;
    const looking = setInterval(() => {
      try {
        peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0));
      } catch {
        // it has left
      }
    }, 20);
    const [code] = await within('the read of 256 MiB', once(child, 'close'));
    clearInterval(looking);
    assert.equal(code, 0, complaints);
    const got = createHash('sha256');
    await pipeline(createReadStream(out), got);
    assert.equal(got.digest('hex'), expected.digest('hex'));
    assert.ok(peak > 0 && peak < 64 * 1024, `its peak was ${peak} KiB`);
    return `peak ${peak} KiB`;
  });
});
