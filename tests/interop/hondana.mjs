// The program under test: started over HTTP on a free port, ended by its process id.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { finally_do, within } from './verdict.mjs';

/** Path of the program, the first argument of every test program here. */
export const program = process.argv[2];

/** Starts `hondana serve --port N ARGUMENTS…` (0: any free one): the URL it prints, its greeting, and how to stop it. */
export async function serve(args, options = {}) {
  const child = spawn(options.program ?? program, ['serve', '--port', String(options.port ?? 0), ...args], {
    cwd: options.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (printed += text));
  let said = '';
  const greeted = new Promise((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text;
      if (said.includes('Stop with Ctrl-C.\n')) resolve();
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`hondana serve ended with ${code} and said:\n${said}`)));
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    try {
      const [code, signal] = await within('the end of hondana serve after SIGTERM', exited);
      assert.deepEqual({ code, signal }, { code: 0, signal: null }, `hondana serve said:\n${said}`);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
    assert.equal(printed, '', 'hondana serve has nothing for stdout');
  };
  finally_do(stop);
  await within('the greeting of hondana serve', greeted);
  const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(said)?.[0];
  assert.ok(url, `no URL in the greeting:\n${said}`);
  return { url, pid: child.pid, greeting: said, stop };
}

/** Whether a process with this id is there. */
export function is_running(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
