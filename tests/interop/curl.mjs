// What `hondana serve` prints works as printed: the curl line, and the snippets for hosts.
//
// Usage: node.sh curl.mjs HONDANA REPOSITORY
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { program, serve } from './hondana.mjs';
import { copy_of, uri_of, work_tree } from './repository.mjs';
import { check, event_deadline, judge, temporary_folder, within } from './verdict.mjs';

const repository = copy_of(work_tree(process.argv[3]));

/** Host, and the member of its configuration that holds the servers. */
const hosts = [
  ['Claude Desktop', 'mcpServers'],
  ['VS Code', 'servers'],
  ['Cursor', 'mcpServers'],
  ['Zed', 'context_servers'],
];

/** The first page of resources that a started server answers with, asked in the legacy way over its standard input. */
async function first_page(child, name) {
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (id, method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const line = await within(`${name}: the answer to ${method}`, lines.next());
    assert.ok(!line.done, `${name} ended`);
    const answer = JSON.parse(line.value);
    assert.equal(answer.id, id);
    return answer.result;
  };
  try {
    const who = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'snippet', version: '1' } };
    assert.equal((await ask(1, 'initialize', who)).protocolVersion, '2025-11-25');
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    const page = await ask(2, 'resources/list', {});
    child.stdin.end();
    assert.deepEqual(await within(`${name}: its end`, exited), [0, null]);
    return page.resources;
  } finally {
    child.kill('SIGKILL');
  }
}

/** The first page of resources over HTTP, asked in the modern way. */
async function ask_modern(url) {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': 'resources/list',
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'first page', method: 'resources/list', params: { _meta } });
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(event_deadline) });
  assert.equal(response.status, 200);
  return (await response.json()).result;
}

/** The checks of one greeting: what it prints is run from `elsewhere`, and must list `expected`. */
async function try_greeting(name, server, elsewhere, expected) {
  const same = (resources) => assert.deepEqual(resources.map((one) => one.uri), expected);
  await check(`${name}: the curl line lists the resources`, () => {
    const lines = server.greeting.split('\n').filter((line) => line.startsWith('  curl '));
    assert.equal(lines.length, 1, server.greeting);
    const out = execFileSync('/bin/sh', ['-c', lines[0]], { encoding: 'utf8', cwd: elsewhere, timeout: event_deadline, maxBuffer: 1 << 26 });
    const answer = JSON.parse(out);
    assert.equal(answer.error, undefined, out);
    assert.equal(answer.result.resultType, 'complete');
    same(answer.result.resources);
    return `${answer.result.resources.length} resources`;
  });

  for (const [host, member] of hosts) {
    await check(`${name}: the snippet for ${host} is JSON, and what it names serves the same`, async () => {
      const line = server.greeting.split('\n').find((one) => one.startsWith(`  ${host} `) && one.includes('"command"'));
      assert.ok(line, server.greeting);
      const snippet = JSON.parse(line.slice(line.indexOf('{')));
      assert.deepEqual(Object.keys(snippet), [member]);
      const { command, args } = snippet[member].hondana;
      assert.ok(isAbsolute(command), command);
      assert.equal(command, realpathSync(program));
      assert.equal(args[0], 'stdio');
      same(await first_page(spawn(command, args, { cwd: elsewhere, stdio: ['pipe', 'pipe', 'inherit'] }), host));
    });
  }

  await check(`${name}: the command for Claude Code is one line of shell, and what it starts serves the same`, async () => {
    const line = server.greeting.split('\n').find((one) => one.startsWith('  Claude Code ') && one.includes(' -- '));
    const command = /claude mcp add hondana -- (.*)$/.exec(line)?.[1];
    assert.ok(command, server.greeting);
    same(await first_page(spawn('/bin/sh', ['-c', `exec ${command}`], { cwd: elsewhere, stdio: ['pipe', 'pipe', 'inherit'] }), 'Claude Code'));
  });
}

await judge(async () => {
  const elsewhere = temporary_folder();

  await check('the greeting names the URL and the folder', async () => {
    const server = await serve([repository]);
    assert.match(server.greeting, /^hondana \S+ serves at http:\/\/127\.0\.0\.1:\d+\/mcp:\n/);
    assert.ok(server.greeting.includes(`${uri_of(repository)}\n`), server.greeting);
    const health = await fetch(server.url.replace(/mcp$/, 'healthz'));
    assert.equal(health.status, 200);
    await server.stop();
  });

  const plain = await serve([repository]);
  let uris = [];
  await check('the server lists this repository to the test itself', async () => {
    uris = (await ask_modern(plain.url)).resources.map((one) => one.uri);
    assert.equal(uris[0], uri_of(repository));
    assert.ok(uris.includes(uri_of(join(repository, 'LICENSE'))), uris.join('\n'));
  });
  await try_greeting('this repository', plain, elsewhere, uris);
  await plain.stop();

  // From its own folder, by a relative path, with quotes and spaces to be quoted.
  const awkward = join(temporary_folder(), "it's a $HOME \"folder\" & more; 本棚");
  mkdirSync(join(awkward, 'inside here'), { recursive: true });
  for (const name of ['one.txt', "it's.pem", 'its.pem']) writeFileSync(join(awkward, 'inside here', name), 'one\n');
  const relative = await serve(['--allow', "it's*.pem", 'inside here'], { cwd: awkward });
  const root = uri_of(join(awkward, 'inside here'));
  await try_greeting('a folder with an awkward path', relative, elsewhere, [root, `${root}/it's.pem`, `${root}/one.txt`]);
  await relative.stop();

  await check('a port in use is an error that says so, with exit code 5', async () => {
    const first = await serve([elsewhere]);
    const { port } = new URL(first.url);
    const second = spawn(program, ['serve', '--port', port, elsewhere], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    second.stderr.setEncoding('utf8').on('data', (text) => (said += text));
    const [code] = await within('the end of the second server', once(second, 'close'));
    assert.equal(code, 5, said);
    assert.ok(said.includes(port) && /in use/.test(said), said);
    await first.stop();
  });
});
