// The verdict of a test program: named checks, one deadline for all of them, and what must be stopped whatever happens.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const started = performance.now();
const undo = [];
let failures = 0;
let passes = 0;
let running = 'nothing';

/** Runs one check; its name is a sentence. A failed check does not keep the next ones from running. */
export async function check(name, body) {
  running = name;
  const begin = performance.now();
  try {
    const note = await body();
    passes += 1;
    console.log(`PASS ${name}${note ? `: ${note}` : ''} [${Math.round(performance.now() - begin)} ms]`);
  } catch (error) {
    failures += 1;
    console.log(`FAIL ${name}\n     ${String(error?.stack ?? error).split('\n').join('\n     ')}`);
  }
}

/** Ends the program before its first check: what it needs is not there. */
export function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

/** Has `action` run at the end, in reverse order, also when a check fails or the deadline passes. */
export function finally_do(action) {
  undo.push(action);
}

/** A new folder, free of links in its path, that goes at the end. */
export function temporary_folder() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hondana-interop-')));
  finally_do(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Milliseconds until a wait for an event that must come fails: minutes, so that no test depends on the speed of the machine. */
export const event_deadline = 180_000;
const script_deadline = 840_000;

/** What `promise` brings, or an error that says what was waited for. */
export async function within(what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing within ${event_deadline} ms`)), event_deadline);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Repeats `body` until it does not throw; what it returns. Only where nothing announces the event. */
export async function eventually(body) {
  const end = performance.now() + event_deadline;
  for (;;) {
    try {
      return await body();
    } catch (error) {
      if (performance.now() >= end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function clean_up() {
  for (const action of undo.splice(0).reverse()) {
    try {
      await action();
    } catch (error) {
      failures += 1;
      console.log(`FAIL cleaning up: ${error.message}`);
    }
  }
}

/** Runs `body`, which holds the checks, and ends the process: 0 when all passed, 1 otherwise. */
export async function judge(body) {
  const alarm = setTimeout(async () => {
    console.log(`FAIL ${running}\n     the program had ${script_deadline} ms and they are over`);
    setTimeout(() => process.exit(1), 5000);
    await clean_up();
    process.exit(1);
  }, script_deadline);
  try {
    await body();
  } catch (error) {
    failures += 1;
    console.log(`FAIL outside the checks: ${error.stack}`);
  }
  await clean_up();
  clearTimeout(alarm);
  if (passes === 0) failures += 1;
  console.log(`${passes} passed, ${failures} failed, ${((performance.now() - started) / 1000).toFixed(1)} s`);
  process.exit(failures === 0 ? 0 : 1);
}
