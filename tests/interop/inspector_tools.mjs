// The Inspector's command line lists and calls tools and gets prompts of examples/everything over HTTP, in both eras.
//
// Usage: node.sh inspector_tools.mjs EVERYTHING
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { start_server } from './listening.mjs';
import { check, event_deadline, judge, temporary_folder } from './verdict.mjs';

const inspector = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/.bin/mcp-inspector');
const home = temporary_folder();
const run = promisify(execFile);

await judge(async () => {
  const server = await start_server([process.argv[2], '0']);

  /** One run of the Inspector; the result it prints. */
  async function inspect(era, method, ...more) {
    const how = ['--cli', '--format', 'json', '--quiet', '--protocol-era', era, '--transport', 'http', '--server-url', server.url];
    const env = { ...process.env, HOME: home, NO_COLOR: '1' };
    const { stdout } = await run(process.execPath, [inspector, ...how, '--method', method, ...more], { env, timeout: event_deadline });
    const answer = JSON.parse(stdout);
    return answer.result ?? answer;
  }

  for (const era of ['legacy', 'modern']) {
    const name = `Inspector, ${era}`;
    await check(`${name}: tools/list has the tools with their schemas`, async () => {
      const { tools } = await inspect(era, 'tools/list');
      const simple = tools.find((tool) => tool.name === 'test_simple_text');
      assert.equal(simple?.inputSchema?.type, 'object', JSON.stringify(tools).slice(0, 500));
      return `${tools.length} tools`;
    });
    await check(`${name}: tools/call gives what the tool says, also after log messages and progress`, async () => {
      const texts = {
        test_simple_text: 'This is a simple text response for testing.',
        test_tool_with_logging: 'Tool with logging executed successfully',
        test_tool_with_progress: 'All steps completed',
      };
      for (const [tool, text] of Object.entries(texts)) {
        const { content, isError } = await inspect(era, 'tools/call', '--tool-name', tool);
        assert.deepEqual(content, [{ type: 'text', text }]);
        assert.ok(!isError);
      }
    });
    await check(`${name}: prompts/get fills in the arguments`, async () => {
      const args = ['--prompt-name', 'test_prompt_with_arguments', '--prompt-args', 'arg1=first', 'arg2=second'];
      const { messages } = await inspect(era, 'prompts/get', ...args);
      assert.match(messages[0].content.text, /first.*second/s);
    });
  }
  await check('the server ends with 0 on SIGTERM', () => server.stop());
});
