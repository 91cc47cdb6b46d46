// Counts the instructions that a request costs the server, with callgrind, and holds them against the counts committed
// beside this file. Counts hardly depend on how busy a machine is, so that they can guard in CI what time cannot.
//
// Usage: node count.mjs PROGRAM [--write]. PROGRAM: a release build. Exit code 1: a path costs more than committed.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// Other processors of the same kind, and other builds of the libraries beneath, differ by less.
const margin = 0.25;
const patience = 120_000;
const mebibyte = 1 << 20;
const committed = new URL('baseline.json', import.meta.url);
const [program, mode] = process.argv.slice(2);
assert.ok(program && [undefined, '--write'].includes(mode), 'usage: node count.mjs PROGRAM [--write]');

const folder = mkdtempSync(join(tmpdir(), 'hondana-count-'));
const served = join(folder, 'served');

function fill() {
  mkdirSync(served);
  writeFileSync(join(served, 'small.txt'), 'A small text, as most are.\n');
  let text = '';
  for (let line = 1; text.length < mebibyte; ++line) text += `Line ${line} says "nothing much", in ordinary words.\n`;
  writeFileSync(join(served, 'text.txt'), text.slice(0, mebibyte));
  const blob = Buffer.alloc(mebibyte);
  let state = 1;
  for (let i = 0; i < blob.length; ++i) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    blob[i] = state >>> 16;
  }
  writeFileSync(join(served, 'blob.bin'), blob);
  // With the folder, a list of 100.
  for (let i = 4; i < 100; ++i) writeFileSync(join(served, `note-${i}.txt`), 'A note.\n');
}

function message(method, uri, id) {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...(uri && { uri }), _meta } });
}

function post(method, uri) {
  const body = message(method, uri, 1000);
  const name = uri ? `Mcp-Name: ${uri}\r\n` : '';
  return (
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n' +
    `MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: ${method}\r\n${name}Content-Length: ${body.length}\r\n\r\n${body}`
  );
}

async function within(what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${patience / 1000} s in vain for ${what}`)), patience);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

// How many instructions the threads took; callgrind writes a file for each. With `mark`, only the thread that runs the functions
// with it in their names, more than any other: what is at hand is answered by one, and how often others look at files meanwhile,
// or which of them does what is done once, is a matter of time.
function count_in_files(mark) {
  let total = 0;
  let mentions = 0;
  for (const name of readdirSync(folder)) {
    if (!/^counts-\d+$/.test(name)) continue;
    const text = readFileSync(join(folder, name), 'utf8');
    const count = Number(/^(?:totals|summary): (\d+)/m.exec(text)?.[1]);
    assert.ok(count >= 0, `callgrind said no count in ${name}`);
    rmSync(join(folder, name));
    const mentioned = mark ? text.split(mark).length - 1 : 0;
    if (!mark) total += count;
    else if (mentioned > mentions) [total, mentions] = [count, mentioned];
  }
  assert.ok(total > 0, `callgrind counted nothing${mark ? ` of ${mark}; has the program no symbols?` : ''}`);
  return total;
}

// The server under callgrind: what it says, and how many instructions it took once it has ended.
function start(args) {
  const options = ['--tool=callgrind', '--separate-threads=yes', `--callgrind-out-file=${join(folder, 'counts')}`];
  const child = spawn('valgrind', [...options, program, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  let hear = () => {};
  child.stderr.setEncoding('utf8').on('data', (piece) => {
    said += piece;
    hear();
  });
  const ended = once(child, 'close');
  const saying = (pattern) =>
    within(
      pattern,
      new Promise((resolve, reject) => {
        hear = () => {
          const found = pattern.exec(said);
          if (found) resolve(found);
        };
        child.once('error', reject);
        ended.then(() => reject(new Error(`the server ended and said:\n${said}`)), reject);
        hear();
      }),
    );
  const counted = async (mark) => {
    await within('the end of the server', ended);
    return count_in_files(mark);
  };
  return { child, saying, counted };
}

// The length of the first answer in what has come; nothing when it is not whole. JSON has no CR LF within.
function length_of_answer(came) {
  const end = came.indexOf('\r\n\r\n') + 4;
  if (end < 4) return undefined;
  const head = came.toString('latin1', 0, end);
  assert.ok(head.startsWith('HTTP/1.1 200'), head);
  const stated = /^Content-Length: (\d+)\r$/im.exec(head)?.[1];
  const last = '\r\n0\r\n\r\n';
  const whole = stated ? end + Number(stated) : came.indexOf(last, end) + last.length;
  return whole >= end && whole <= came.length ? whole : undefined;
}

// Answers on one connection, to so many requests sent together. Those that are answered at hand must be many: which of them has
// the file looked at is a matter of time.
async function over_http(settings, request, count, together, mark) {
  const config = join(folder, 'config.toml');
  writeFileSync(config, `${settings}[http]\nport = 0\nthreads = 1\n[[source]]\ntype = "files"\npath = "served"\n`);
  const server = start(['serve', '--sandbox', 'off', '--config', config]);
  const [, port] = await server.saying(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/);
  const socket = connect(Number(port), '127.0.0.1').setNoDelay();
  await within('a connection', once(socket, 'connect'));
  let left = count;
  await within(
    'all answers',
    new Promise((resolve, reject) => {
      let came = Buffer.alloc(0);
      let awaited = 0;
      const ask = () => {
        awaited = Math.min(together, left);
        socket.write(request.repeat(awaited));
      };
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('the server closed the connection')));
      socket.on('data', (piece) => {
        try {
          came = Buffer.concat([came, piece]);
          for (let size; (size = length_of_answer(came)) !== undefined; --awaited, --left) came = came.subarray(size);
          if (left === 0) resolve();
          else if (awaited === 0) ask();
        } catch (error) {
          reject(error);
        }
      });
      ask();
    }),
  );
  socket.removeAllListeners('close').destroy();
  server.child.kill('SIGTERM');
  return server.counted(mark);
}

async function over_stdio(method, uri, count, mark) {
  const server = start(['stdio', served]);
  let left = count;
  await within(
    'all answers',
    new Promise((resolve, reject) => {
      server.child.once('close', () => reject(new Error('the server ended')));
      server.child.stdout.on('data', (piece) => {
        for (const byte of piece) if (byte === 10) --left;
        if (left <= 0) return resolve();
        if (piece.at(-1) === 10) server.child.stdin.write(message(method, uri, 1000) + '\n');
      });
      server.child.stdin.write(message(method, uri, 1000) + '\n');
    }),
  );
  server.child.stdin.end();
  return server.counted(mark);
}

const url = (name) => pathToFileURL(join(served, name)).href;
const afresh = 'read_cache_bytes = 0\n';
const loop = 'transport::http_server::http1_protocol';
const paths = {
  'small read over HTTP, 20 at once': [(n) => over_http('', post('resources/read', url('small.txt')), n, 20, loop), 500, 2500],
  'small read over stdio': [(n) => over_stdio('resources/read', url('small.txt'), n, 'transport::stdio::'), 500, 2500],
  'list of 100 over HTTP': [(n) => over_http('', post('resources/list'), n, 1, loop), 100, 600],
  '1 MiB text over HTTP, afresh': [(n) => over_http(afresh, post('resources/read', url('text.txt')), n, 1), 10, 50],
  '1 MiB blob over HTTP, afresh': [(n) => over_http(afresh, post('resources/read', url('blob.bin')), n, 1), 10, 50],
};

let failures = 0;
try {
  fill();
  const baseline = mode ? {} : JSON.parse(readFileSync(committed, 'utf8'));
  const counts = {};
  for (const [name, [run, few, many]] of Object.entries(paths)) {
    // What starting costs is in both.
    const start_and_few = await run(few);
    counts[name] = Math.round(((await run(many)) - start_and_few) / (many - few));
    const before = baseline[name];
    let verdict = '';
    if (!mode && counts[name] > before * (1 + margin)) {
      verdict = `, which is more than ${margin * 100} % above the ${before} committed`;
      ++failures;
    } else if (!mode && counts[name] < before * (1 - margin)) {
      verdict = `, down from ${before}: commit the new count with ./dev instructions --write`;
    }
    console.log(`${name}: ${counts[name]} instructions a request${verdict}`);
  }
  if (mode) writeFileSync(committed, JSON.stringify(counts, null, 2) + '\n');
} finally {
  rmSync(folder, { recursive: true });
}
if (failures > 0) {
  console.error('Find out what costs more (callgrind_annotate), or, if it is worth it, commit it with ./dev instructions --write.');
  process.exit(1);
}
