// A program that listens on a free loopback port and says where: started, stopped or killed by its process id.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { finally_do, within } from './verdict.mjs';

/** Starts a program that prints its URL, wherever: the URL, what the program said, and how to end it. */
export async function start_server([program, ...args]) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  finally_do(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  let said = '';
  const greeted = new Promise((resolve, reject) => {
    for (const output of [child.stdout, child.stderr]) {
      output.setEncoding('utf8').on('data', (text) => {
        said += text;
        const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(said)?.[0];
        if (url) resolve(url);
      });
    }
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`${program} ended with ${signal ?? code} and said:\n${said}`)));
  });
  const end_by = async (signal, expected) => {
    const ended = child.exitCode !== null || child.signalCode !== null;
    assert.ok(!ended, `${program} ended by itself, with ${child.signalCode ?? child.exitCode}, and said:\n${said}`);
    child.kill(signal);
    const [code, by] = await within(`the end of ${program} after ${signal}`, exited);
    assert.deepEqual({ code, by }, expected, `${program} said:\n${said}`);
  };
  const url = await within(`the URL that ${program} prints`, greeted);
  return {
    url,
    pid: child.pid,
    port: new URL(url).port,
    said: () => said,
    stop: () => end_by('SIGTERM', { code: 0, by: null }),
    /** As a crash does it. */
    kill: () => end_by('SIGKILL', { code: null, by: 'SIGKILL' }),
  };
}
