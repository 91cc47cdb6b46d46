// What is measured, and who measures it: an exporter whose values a test sets, the Debian programs of Prometheus, and a relay.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { free_port } from './free_port.mjs';
import { inbox } from './subscribers.mjs';
import { finally_do, within } from './verdict.mjs';

export const programs = {
  prometheus: '/usr/bin/prometheus',
  node: '/usr/bin/prometheus-node-exporter',
  promtool: '/usr/bin/promtool',
};

/** Those of the programs that are not there. */
export function missing_programs() {
  return Object.values(programs).filter((path) => {
    try {
      accessSync(path, constants.X_OK);
      return false;
    } catch {
      return true;
    }
  });
}

/** A server that ends with the test; its URL. */
async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  finally_do(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/** Starts a program and waits until it has said `ready`; `stop` ends it in order. */
async function start(path, args, ready) {
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, GOMAXPROCS: '1' } });
  finally_do(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  let said = '';
  const greeted = new Promise((resolve, reject) => {
    for (const output of [child.stdout, child.stderr])
      output.setEncoding('utf8').on('data', (text) => {
        said += text;
        if (said.includes(ready)) resolve();
      });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${path} ended with ${code} and said:\n${said}`)));
  });
  await within(`"${ready}" of ${path}, which said:\n${said}`, greeted);
  return async () => {
    child.kill('SIGTERM');
    await within(`the end of ${path}`, exited);
  };
}

export async function start_node_exporter() {
  const at = `127.0.0.1:${await free_port()}`;
  const stop = await start(programs.node, [`--web.listen-address=${at}`], 'Listening on');
  return { at, url: `http://${at}/metrics`, stop };
}

/** A Prometheus that scrapes `jobs` (name: host:port) and itself every second. */
export async function start_prometheus(folder, jobs) {
  const at = `127.0.0.1:${await free_port()}`;
  const job = ([name, target]) => `- job_name: ${name}\n  static_configs: [{targets: ['${target}']}]\n`;
  const config = join(folder, 'prometheus.yml');
  writeFileSync(
    config,
    'global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\nrule_files: [rules.yml]\nscrape_configs:\n' +
      Object.entries({ ...jobs, prometheus: at }).map(job).join(''),
  );
  writeFileSync(
    join(folder, 'rules.yml'),
    'groups:\n- name: interop\n  rules:\n  - {alert: Fires, expr: "up{job=\\"node\\"} == 1", labels: {severity: page}}\n' +
      '  - {record: "job:up:sum", expr: "sum by (job) (up)"}\n',
  );
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=${at}`];
  const stop = await start(programs.prometheus, args, 'Server is ready to receive web requests.');
  const ask = async (path, query = {}) => {
    const answer = await (await fetch(`http://${at}/api/v1${path}?${new URLSearchParams(query)}`)).json();
    if (answer.status !== 'success') throw new Error(`Prometheus, asked for ${path}: ${JSON.stringify(answer)}`);
    return answer.data;
  };
  return { at, url: `http://${at}`, stop, ask };
}

const scrapes_until_restart = 20;

/**
 * An exporter. `app_queue_depth` is what the test sets, and `app_late` comes when it says so; the others say at which instant they were measured, and stay as they are
 * until everybody has seen them, so that all who scrape it have the same samples.
 */
export class made_exporter {
  constructor(...readers) {
    Object.assign(this, { readers, depth: 1, is_late: false, at: 0, step: 0, seen: new Set(), instants: [], jobs: 0, buckets: [0, 0, 0], count: 0 });
    /** Who has scraped: the first of `readers` that its User-Agent begins with, and what the depth was. */
    this.scrapes = new inbox();
    this.#advance();
    this.server = createServer((asked, answer) => {
      const by = readers.find((one) => asked.headers['user-agent']?.startsWith(one)) ?? 'somebody';
      answer.setHeader('Content-Type', 'text/plain; version=0.0.4; charset=utf-8').end(this.#page());
      this.seen.add(by);
      if (readers.every((one) => this.seen.has(one))) this.#advance();
      this.scrapes.put({ by, depth: this.depth });
    });
  }

  async start() {
    this.url = `${await listen(this.server)}/metrics`;
    return this;
  }

  /** How often `by` has scraped. */
  scraped(by) {
    return this.scrapes.items.filter((one) => one.by === by).length;
  }

  /** Waits for so many more scrapes by `by`. */
  async scraped_again(by, times = 1) {
    const begin = this.scraped(by);
    await this.scrapes.until(`${times} more scrapes by ${by}`, () => this.scraped(by) >= begin + times);
  }

  #advance() {
    this.seen.clear();
    this.at = Math.max(Date.now(), this.at + 1);
    this.step += 1;
    this.instants.push(this.at);
    this.jobs = this.step % scrapes_until_restart === 7 ? 3 : this.jobs + 10 + (this.step % 4); // it begins anew now and then
    this.buckets = this.buckets.map((one, i) => one + i + (this.step % 3));
    this.count = this.buckets.at(-1) + this.step;
    this.warmth = 20 + 10 * Math.sin(this.step);
  }

  #page() {
    const { at, buckets } = this;
    return [
      '# HELP app_queue_depth Jobs that wait.',
      '# TYPE app_queue_depth gauge',
      `app_queue_depth{queue="印刷"} ${this.depth}`,
      ...(this.is_late ? ['# TYPE app_late gauge', 'app_late 1'] : []),
      '# HELP app_jobs_total Jobs done.',
      '# TYPE app_jobs_total counter',
      `app_jobs_total{kind="印刷"} ${this.jobs} ${at}`,
      `app_jobs_total{kind="a, \\"b\\" \\\\ c"} ${2 * this.jobs} ${at}`,
      '# TYPE app_warmth_celsius gauge',
      `app_warmth_celsius ${this.warmth} ${at}`,
      '# TYPE app_request_seconds histogram',
      ...['0.1', '0.5', '2.5'].map((le, i) => `app_request_seconds_bucket{le="${le}"} ${buckets[i]} ${at}`),
      `app_request_seconds_bucket{le="+Inf"} ${this.count} ${at}`,
      `app_request_seconds_sum ${this.count * 0.3} ${at}`,
      `app_request_seconds_count ${this.count} ${at}`,
      '',
    ].join('\n');
  }
}

/** Passes GETs on to `target()`, and keeps what was wanted and what came. */
export async function start_relay(target) {
  const passed = new inbox();
  const server = createServer((asked, answer) => {
    const onward = request(new URL(asked.url, target()), { headers: { ...asked.headers, host: new URL(target()).host } }, (got) => {
      answer.writeHead(got.statusCode, got.headers);
      got.pipe(answer);
      passed.put({ accept: asked.headers.accept, status: got.statusCode, type: got.headers['content-type'] });
    });
    onward.on('error', () => answer.writeHead(502).end());
    onward.end();
  });
  const url = await listen(server);
  return { url, at: new URL(url).host, passed };
}
