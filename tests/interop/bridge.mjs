// Real clients of both eras complete paths, and reach resources by the tools list_resources, read_resource and search_resources.
//
// Usage: node.sh bridge.mjs HONDANA
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import * as sdk from '@modelcontextprotocol/sdk/client/index.js';
import * as sdk_stdio from '@modelcontextprotocol/sdk/client/stdio.js';
import { program, serve } from './hondana.mjs';
import { all_peers } from './peers.mjs';
import { uri_of } from './repository.mjs';
import { check, eventually, judge, temporary_folder } from './verdict.mjs';

const folder = temporary_folder();
const picture = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
const names = ['list_resources', 'read_resource', 'search_resources'];
const ajv = new Ajv2020({ strict: false });
addFormats(ajv);

function fill() {
  mkdirSync(join(folder, 'src/catalog'), { recursive: true });
  writeFileSync(join(folder, 'README.md'), '# Shelf\n\nWhere the wombat lives.\n');
  writeFileSync(join(folder, 'src/catalog/listing.cpp'), `// Lists.\n${'int line;\n'.repeat(500)}// the wombat again\n`);
  writeFileSync(join(folder, 'picture.png'), picture);
  writeFileSync(join(folder, '日本語.txt'), 'ここに袋熊がいる。\n');
  writeFileSync(join(folder, '.env'), 'wombat=secret\n');
}

async function converse({ name, make }) {
  const peer = make();
  const call = async (tool, args) => peer.client.callTool({ name: tool, arguments: args });
  const uri = (path) => `${uri_of(folder)}/${path}`;
  let tools = [];
  await check(`${name}: is offered three tools that only read`, async () => {
    await peer.connect();
    assert.ok(peer.client.getServerCapabilities().tools);
    ({ tools } = await peer.client.listTools());
    assert.deepEqual(tools.map((tool) => tool.name), names);
    for (const tool of tools) {
      ajv.compile(tool.inputSchema);
      if (tool.outputSchema) ajv.compile(tool.outputSchema);
      assert.equal(tool.annotations?.readOnlyHint, true);
    }
  });
  const fits = (tool, answer) => {
    const judge_it = ajv.compile(tools.find((one) => one.name === tool).outputSchema);
    assert.ok(judge_it(answer.structuredContent), JSON.stringify(judge_it.errors));
    assert.deepEqual(JSON.parse(answer.content[0].text), answer.structuredContent);
    return answer.structuredContent;
  };

  await check(`${name}: lists page by page, with links, what passes a filter`, async () => {
    const found = [];
    let cursor;
    do {
      const answer = await call('list_resources', { limit: 2, mimeType: 'text/*', ...(cursor && { cursor }) });
      const page = fits('list_resources', answer);
      assert.deepEqual(
        answer.content.filter((block) => block.type === 'resource_link').map((block) => block.uri),
        page.resources.map((entry) => entry.uri),
      );
      found.push(...page.resources.map((entry) => entry.uri));
      cursor = page.nextCursor;
    } while (cursor);
    assert.deepEqual(found.sort(), [uri('README.md'), uri('src/catalog/listing.cpp'), uri(encodeURIComponent('日本語.txt'))].sort());
  });

  await check(`${name}: searches names and contents, and finds nothing that is not served`, async () => {
    const results = await eventually(async () => {
      const found = fits('search_resources', await call('search_resources', { q: 'wombat' }));
      assert.equal(found.isComplete, true);
      return found.results;
    });
    assert.deepEqual(results.map((hit) => hit.uri).sort(), [uri('README.md'), uri('src/catalog/listing.cpp')].sort());
    const hit = results.find((one) => one.uri === uri('README.md'));
    assert.match(hit.passage, /wombat/);
    const part = await call('read_resource', { uri: hit.uri, range: hit.range });
    assert.match(part.content[0].resource.text, /wombat/);
    const japanese = fits('search_resources', await call('search_resources', { q: '袋熊', limit: 1 }));
    assert.equal(japanese.results[0].name, '日本語.txt');
  });

  await check(`${name}: reads a text in pages, a picture as such, and is told what is wrong`, async () => {
    let text = '';
    let args = { uri: uri('src/catalog/listing.cpp'), maxBytes: 2048 };
    let pages = 0;
    while (args && pages++ < 10) {
      const { content } = await call('read_resource', args);
      text += content[0].resource.text;
      const next = /next: call read_resource again with (\{.*\})/.exec(content[1]?.text ?? '');
      args = next && { ...JSON.parse(next[1]), maxBytes: 2048 };
    }
    assert.equal(text, `// Lists.\n${'int line;\n'.repeat(500)}// the wombat again\n`);
    assert.ok(pages >= 3, `${pages} pages`);
    const { content } = await call('read_resource', { uri: uri('picture.png') });
    assert.deepEqual({ type: content[0].type, mimeType: content[0].mimeType }, { type: 'image', mimeType: 'image/png' });
    assert.ok(Buffer.from(content[0].data, 'base64').equals(picture));
    for (const path of ['.env', 'absent', '../outside']) {
      const refused = await call('read_resource', { uri: uri(path) });
      assert.equal(refused.isError, true);
      assert.match(refused.content[0].text, /Resource not found: .*list_resources/);
    }
  });

  await check(`${name}: completes paths in the whole tree, and lines of the file chosen`, async () => {
    const template = `${uri_of(folder)}/{+path}{?lines,bytes}`;
    const complete = async (argument, value, context) => {
      const ref = { type: 'ref/resource', uri: template };
      const answer = await peer.client.complete({ ref, argument: { name: argument, value }, ...(context && { context }) });
      return answer.completion;
    };
    assert.deepEqual(await complete('path', 'listing'), { values: ['src/catalog/listing.cpp'], total: 1, hasMore: false });
    assert.deepEqual((await complete('path', 's/c/l')).values, ['src/catalog/listing.cpp']);
    assert.deepEqual((await complete('path', '日語')).values, ['日本語.txt']);
    assert.deepEqual((await complete('path', '.en')).values, [], 'what is denied is not disclosed');
    const context = { arguments: { path: 'src/catalog/listing.cpp' } };
    // HTTP+SSE with these clients is of 2024-11-05, where there is no context.
    const has_context = peer.client.getNegotiatedProtocolVersion?.() !== '2024-11-05';
    if (has_context) assert.deepEqual((await complete('lines', '', context)).values, ['1-502', '1-200', '201-400', '401-502']);
    const without = await complete('lines', '');
    assert.deepEqual(without.values, []);
  });
  await check(`${name}: ends in order`, async () => {
    await peer.close();
    assert.deepEqual(peer.errors, []);
  });
}

await judge(async () => {
  fill();
  const server = await serve([folder]);
  for (const one of all_peers(['stdio', folder], () => server.url)) await converse(one);
  await check('hondana serve ends with 0 on SIGTERM', () => server.stop());
  await check('with --no-tools, and with tools = false, there are none, and none are declared', async () => {
    const config = join(temporary_folder(), 'hondana.toml');
    writeFileSync(config, `tools = false\n[[source]]\ntype = "files"\npaths = ["${folder}"]\n`);
    for (const args of [['--no-tools', folder], ['--config', config]]) {
      const client = new sdk.Client({ name: 'hondana-interop', version: '1.0.0' });
      await client.connect(new sdk_stdio.StdioClientTransport({ command: program, args: ['stdio', ...args], stderr: 'inherit' }));
      assert.equal(client.getServerCapabilities().tools, undefined);
      assert.equal(client.getServerCapabilities().logging, undefined);
      await client.close();
    }
  });
  await check('the help of both commands names the flag', () => {
    for (const command of ['stdio', 'serve']) {
      assert.match(execFileSync(program, [command, '--help'], { encoding: 'utf8' }), /--no-tools/);
    }
  });
});
