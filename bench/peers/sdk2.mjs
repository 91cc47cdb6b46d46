// A server by the SDK 2.x, without sessions: sdk2.mjs FOLDER PORT over HTTP on loopback.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, ResourceTemplate, createMcpHandler } from '@modelcontextprotocol/server';
import { shelf } from './shelf.mjs';

const [folder, port] = process.argv.slice(2);
const fill = shelf(folder);

const handler = createMcpHandler(
  () => {
    const server = new McpServer({ name: 'peer', version: '1.0.0' });
    fill(server, ResourceTemplate);
    return server;
  },
  { responseMode: 'json' },
);
createServer(toNodeHandler(handler)).listen(Number(port), '127.0.0.1');
