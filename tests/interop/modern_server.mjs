// A small server by the TypeScript SDK of the newest revision: over standard input and output (`stdio`), or over HTTP on a free
// port of loopback, whose URL is its first line on stderr. The tool `touch` changes the text and tells subscribers.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { McpServer, ResourceTemplate, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

/** Every byte, in an order of its own. */
export const blob = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 131 + (i >> 8)) & 0xff));
const colours = ['green', 'grey', 'red'];
let times = 0;
let tell = () => undefined;

function made() {
  const server = new McpServer(
    { name: 'modern', version: '1.0.0' },
    { capabilities: { resources: { subscribe: true, listChanged: true } } },
  );
  server.registerResource('notes', 'demo://notes', { mimeType: 'text/plain', title: 'Notes' }, () => ({
    contents: [{ uri: 'demo://notes', mimeType: 'text/plain', text: `touched ${times} times` }],
  }));
  server.registerResource('blob', 'demo://blob', { mimeType: 'application/octet-stream' }, () => ({
    contents: [{ uri: 'demo://blob', mimeType: 'application/octet-stream', blob: blob.toString('base64') }],
  }));
  const template = new ResourceTemplate('demo://colours/{name}', {
    list: undefined,
    complete: { name: (typed) => colours.filter((one) => one.startsWith(typed)) },
  });
  server.registerResource('colour', template, {}, (uri, { name }) => ({ contents: [{ uri: uri.href, text: `it is ${name}` }] }));
  server.registerTool('touch', { description: 'Changes the notes' }, () => {
    times += 1;
    tell('demo://notes');
    return { content: [{ type: 'text', text: `touched ${times} times` }] };
  });
  return server;
}

function over_http() {
  const handler = createMcpHandler(made);
  tell = (uri) => handler.notify.resourceUpdated(uri);
  const server = createServer(async (asked, answer) => {
    const gone = new AbortController();
    answer.on('close', () => gone.abort());
    const has_body = asked.method !== 'GET' && asked.method !== 'HEAD';
    const request = new Request(new URL(asked.url, 'http://127.0.0.1'), {
      method: asked.method,
      headers: asked.headers,
      body: has_body ? Readable.toWeb(asked) : undefined,
      duplex: 'half',
      signal: gone.signal,
    });
    const response = await handler.fetch(request);
    answer.writeHead(response.status, Object.fromEntries(response.headers));
    answer.flushHeaders();
    if (response.body === null) answer.end();
    else Readable.fromWeb(response.body).on('error', () => answer.destroy()).pipe(answer);
  });
  server.listen(0, '127.0.0.1', () => console.error(`http://127.0.0.1:${server.address().port}/mcp`));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv[2] === 'stdio') serveStdio(made);
  else over_http();
}
