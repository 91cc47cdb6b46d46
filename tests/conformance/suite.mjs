// One run of the official suite in a process of its own.
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Runs the suite about `subject` (`server --url URL` or `client --command PROGRAM`) with `args` and the list of expected
 * failures `list`; results and output stay in `folder`.
 * `code` is the suite's verdict: not 0 when a scenario failed that is not listed, and when a listed one passed.
 */
export function run_suite(suite, args, { subject, list, folder, deadline_ms }) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const all = [suite.program, ...subject, ...args, '--expected-failures', list, '--output-dir', folder];
  return new Promise((resolve, reject) => {
    const options = { timeout: deadline_ms, killSignal: 'SIGKILL', maxBuffer: 1 << 28, env: { ...process.env, NO_COLOR: '1' } };
    execFile(process.execPath, all, options, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`;
      writeFileSync(join(folder, 'output.txt'), output);
      if (error?.killed) reject(new Error(`the suite had ${deadline_ms} ms and they are over; it said:\n${output.slice(-2000)}`));
      else if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: error?.code ?? 0, output });
    });
  });
}
