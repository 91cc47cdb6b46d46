// A server by the SDK 1.x, as its examples write them: sdk1.mjs FOLDER over standard input and output, sdk1.mjs FOLDER PORT over
// HTTP on loopback with sessions and, as is its default, answers as events: with JSON ones it keeps every answer of a session.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { shelf } from './shelf.mjs';

const [folder, port] = process.argv.slice(2);
const fill = shelf(folder);

function made() {
  const server = new McpServer({ name: 'peer', version: '1.0.0' });
  fill(server, ResourceTemplate);
  return server;
}

if (port === undefined) {
  await made().connect(new StdioServerTransport());
} else {
  const sessions = new Map();
  createServer(async (asked, answer) => {
    const known = sessions.get(asked.headers['mcp-session-id']);
    if (known) {
      await known.handleRequest(asked, answer);
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    transport.onclose = () => sessions.delete(transport.sessionId);
    await made().connect(transport);
    await transport.handleRequest(asked, answer);
  }).listen(Number(port), '127.0.0.1');
}
