// Runs the examples of one page of documentation: writes its files, tries its configurations, runs its commands, compares what they print.
// usage: node run_page.mjs PROGRAM PAGE
//
//   ```toml hondana.toml    a block with a file name is written to that file
//   ```toml                 a fragment: appended to the last named TOML file, or alone, and tried with `hondana check`
//   ```console              lines with "$ " are commands, a trailing \ continues them; the lines below are what they print, standard
//                           output and error together. "..." alone is any number of lines, within a line any text. Nothing below:
//                           the command only has to succeed. "# exit 3" at its end: it has to end with 3. "&" at its end: a server
//   ```console retry        commands that show something are repeated until it is as shown, for what a server does a moment later
//   (sleep N; COMMAND) & \   COMMAND runs when the command below, `hondana watch`, prints that it watches, and not after N seconds
//   ```toml ignore=REASON   not tried; nor is a console block with this
//   <!-- setup ... -->      commands that readers do not see
//
// Everything happens in a folder of its own with HOME inside it. The port 7325 of a page is a free one here.
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const deadline_ms = 180_000;

/** The blocks of a page in order: {line, language, words, text}, a setup comment with the language "setup". */
export function blocks_of(page) {
  const blocks = [];
  let open = null;
  page.split('\n').forEach((line, index) => {
    if (open) {
      if (line.trim() === open.end) {
        blocks.push({ ...open, text: open.lines.join('\n') });
        open = null;
      } else {
        open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
      }
      return;
    }
    const fence = line.match(/^( *)(```+)([^`]*)$/);
    if (fence) {
      const [language = '', ...words] = fence[3].trim().split(/\s+/);
      open = { line: index + 1, language, words, end: fence[2], indent: fence[1], lines: [] };
    } else if (line.trim() === '<!-- setup') {
      open = { line: index + 1, language: 'setup', words: [], end: '-->', indent: '', lines: [] };
    }
  });
  if (open) throw new Error(`line ${open.line}: this block has no end`);
  return blocks;
}

/** The commands of a console block: {line, command, expected lines, status, is_server}. */
export function commands_of(block) {
  const commands = [];
  let continues = false;
  block.text.split('\n').forEach((line, index) => {
    const last = commands.at(-1);
    if (continues) {
      last.command += `\n${line}`;
    } else if (line.startsWith('$ ')) {
      commands.push({ line: block.line + 1 + index, command: line.slice(2), expected: [] });
    } else if (last) {
      last.expected.push(line);
      return;
    } else if (line.trim() !== '') {
      throw new Error(`line ${block.line + 1 + index}: a console block begins with "$ "`);
    }
    continues = line.endsWith('\\');
  });
  for (const command of commands) {
    while (command.expected.at(-1)?.trim() === '') command.expected.pop();
    const status = command.command.match(/# exit (\d+)\s*$/);
    command.status = status ? Number(status[1]) : 0;
    command.is_server = /[^&]&\s*$/.test(command.command);
  }
  return commands;
}

/** Whether lines are as expected, where "..." stands for lines or for text within a line. */
export function agrees(expected, printed) {
  const quote = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const line = (text) => text.trimEnd().split('...').map(quote).join('.*?');
  let pattern = '^';
  for (const text of expected) pattern += text.trim() === '...' ? '(?:.*\\n)*?' : `${line(text)}\\n`;
  const text = printed.map((each) => `${each.trimEnd()}\n`).join('');
  return new RegExp(`${pattern}$`).test(text);
}

function free_port() {
  return new Promise((done, fail) => {
    const server = createServer().on('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

/** Ends a command and what it started, unless it has ended. */
function end(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

class Page {
  constructor(program, page, port) {
    this.page = page;
    this.folder = mkdtempSync(join(tmpdir(), 'docs-'));
    this.servers = [];
    this.failures = 0;
    this.tried = 0;
    this.configuration = null;
    this.with_port = (text) => text.replaceAll('7325', String(port));
    const tools = join(this.folder, '.bin');
    mkdirSync(tools);
    symlinkSync(resolve(program), join(tools, 'hondana'));
    const home = join(this.folder, '.home');
    mkdirSync(home);
    this.environment = {
      PATH: `${tools}:${process.env.PATH}`, HOME: home, LANG: 'C.UTF-8', TZ: 'UTC', NO_COLOR: '1', TERM: 'dumb',
      GIT_CONFIG_NOSYSTEM: '1', GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com', GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com', GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'init.defaultBranch', GIT_CONFIG_VALUE_0: 'main',
    };
  }

  complain(line, text) {
    this.failures += 1;
    console.error(`${this.page}:${line}: ${text}`);
  }

  /** Runs a command to its end: {status, printed lines}. A change that it is to see is made when it prints that it watches. */
  run(text) {
    const delayed = text.match(/^\(sleep \d+; ([^]*?)\) & \\\n([^]*)$/);
    const command = delayed ? delayed[2] : text;
    let change = delayed?.[1];
    return new Promise((done) => {
      const child = spawn('bash', ['-o', 'pipefail', '-c', `exec 2>&1\n${command}`],
        { cwd: this.folder, env: this.environment, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
      let output = '';
      child.stdout.setEncoding('utf8');
      const timer = setTimeout(() => { output += '\n(still running, stopped)\n'; end(child, 'SIGKILL'); }, deadline_ms);
      child.stdout.on('data', (bytes) => {
        output += bytes;
        if (change && /watching /.test(output)) {
          spawn('bash', ['-c', change], { cwd: this.folder, env: this.environment, stdio: 'ignore' });
          change = null;
        }
      });
      child.on('close', (code, signal) => {
        clearTimeout(timer);
        const lines = output.split('\n');
        if (lines.at(-1) === '') lines.pop();
        done({ status: code ?? signal, printed: lines });
      });
    });
  }

  /** A command of a server that names no port gets one: 7325 is for the reader's machine. */
  with_own_port(command) {
    const has_place = /--port|--socket/.test(command) || (this.configuration && /^\s*socket\s*=/m.test(readFileSync(join(this.folder, this.configuration), 'utf8')));
    return has_place ? command : command.replace(/^hondana serve\b/, this.with_port('hondana serve --port 7325'));
  }

  /** Starts a server and waits until it prints where it listens. */
  start(command) {
    return new Promise((done) => {
      const child = spawn('bash', ['-c', `exec 2>&1\nexec ${command.replace(/&\s*$/, '')}`],
        { cwd: this.folder, env: this.environment, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
      this.servers.push(child);
      child.stdout.setEncoding('utf8');
      let output = '';
      const finish = (status) => {
        clearTimeout(timer);
        done({ status, printed: output.split('\n').filter((line, index, all) => index + 1 < all.length || line !== '') });
      };
      const timer = setTimeout(() => finish('no address'), deadline_ms);
      child.stdout.on('data', (bytes) => {
        output += bytes;
        // The last line of its greeting.
        if (output.includes('Stop with Ctrl-C.')) finish(0);
      });
      child.on('close', (code, signal) => finish(code ?? signal));
    });
  }

  async run_commands(block) {
    for (const { line, command, expected, status, is_server } of commands_of(block)) {
      this.tried += 1;
      const try_it = () => (is_server ? this.start(this.with_own_port(this.with_port(command))) : this.run(this.with_port(command)));
      const shown_of = (printed) => printed.map((each) => each.replaceAll(this.folder, '/home/me/project'));
      const is_right = ({ status: ended, printed }) =>
        ended === status && (expected.length === 0 || agrees(expected.map(this.with_port), shown_of(printed)));
      let result = await try_it();
      const until = Date.now() + deadline_ms;
      while (block.words.includes('retry') && !is_right(result) && Date.now() < until) {
        await new Promise((done) => { setTimeout(done, 100); });
        result = await try_it();
      }
      const shown = shown_of(result.printed);
      if (result.status !== status) {
        this.complain(line, `$ ${command}\n  ended with ${result.status} and not with ${status}; it printed:\n${shown.join('\n')}`);
      } else if (expected.length > 0 && !agrees(expected.map(this.with_port), shown)) {
        this.complain(line, `$ ${command}\n  printed:\n${shown.join('\n')}\n  and the page shows:\n${expected.join('\n')}`);
      }
    }
  }

  async check_configuration(line, file) {
    this.tried += 1;
    const { status, printed } = await this.run(`hondana check --config '${file}'`);
    if (status !== 0) this.complain(line, `hondana check --config ${file} ended with ${status}:\n${printed.slice(0, 20).join('\n')}`);
  }

  write(name, text) {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, this.with_port(text.endsWith('\n') ? text : `${text}\n`));
  }

  async run_block(block) {
    const { line, language, words, text } = block;
    if (words.some((word) => /^ignore=./.test(word))) return;
    const file = words.find((word) => !word.includes('=') && word !== 'retry');
    if (language === 'setup') {
      const { status, printed } = await this.run(`set -e\n${this.with_port(text)}`);
      if (status !== 0) this.complain(line, `the setup ended with ${status}:\n${printed.join('\n')}`);
    } else if (language === 'console') {
      await this.run_commands(block);
    } else if (file) {
      this.write(file, text);
      if (language === 'toml' && file.endsWith('.toml') && !file.includes('/.') && !file.startsWith('.')) this.configuration = file;
    } else if (language === 'toml') {
      this.write('.fragment.toml', '');
      const whole = (this.configuration ? `${readFileSync(join(this.folder, this.configuration), 'utf8')}\n` : '') + text;
      this.write('fragment.toml', whole);
      await this.check_configuration(line, 'fragment.toml');
    }
  }

  async stop() {
    for (const child of this.servers) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      await new Promise((done) => { child.on('close', done); end(child, 'SIGTERM'); setTimeout(() => end(child, 'SIGKILL'), deadline_ms).unref(); });
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function main(program, path) {
  const page = new Page(program, path, await free_port());
  try {
    for (const block of blocks_of(readFileSync(path, 'utf8'))) await page.run_block(block);
  } finally {
    await page.stop();
  }
  console.log(`${path}: ${page.tried} examples tried, ${page.failures} not as the page shows`);
  return page.failures === 0 ? 0 : 1;
}

if (process.argv[1] && resolve(process.argv[1]) === new URL(import.meta.url).pathname) {
  if (process.argv.length !== 4) {
    console.error('usage: node run_page.mjs PROGRAM PAGE');
    process.exit(2);
  }
  process.exit(await main(process.argv[2], process.argv[3]));
}
