// server-everything over standard input and output, with the updates it simulates turned on: what a client of its own would do
// with its tool, since a mount passes on resources and no tools. Updates follow each subscription, and then every five seconds.
//
// Usage: node everything_told.mjs
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const everything = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const child = spawn(process.execPath, [everything, 'stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
const subscribing = new Set();
let is_on = false;
let calls = 0;

const tell = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
const toggle = () => {
  calls += 1;
  is_on = !is_on;
  tell({ jsonrpc: '2.0', id: `toggle-${calls}`, method: 'tools/call', params: { name: 'toggle-subscriber-updates', arguments: {} } });
};

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method === 'resources/subscribe') subscribing.add(message.id);
    child.stdin.write(`${line}\n`);
  })
  .on('close', () => child.kill('SIGTERM'));
createInterface({ input: child.stdout }).on('line', (line) => {
  const message = JSON.parse(line);
  if (`${message.id}`.startsWith('toggle-') && message.method === undefined) return;
  process.stdout.write(`${line}\n`);
  if (message.method === undefined && subscribing.delete(message.id)) {
    if (is_on) toggle();
    toggle();
  }
});
child.once('exit', (code) => process.exit(code ?? 0));
