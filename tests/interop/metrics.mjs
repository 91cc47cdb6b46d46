// Real clients of both eras read time series that hondana keeps and those of a real Prometheus, whose values they compare with its
// own; they hear of thresholds that are crossed; and Prometheus scrapes hondana.
//
// Usage: node.sh metrics.mjs HONDANA
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { made_exporter, missing_programs, programs, start_node_exporter, start_prometheus, start_relay } from './exporters.mjs';
import { program } from './hondana.mjs';
import { start_server } from './listening.mjs';
import { all_peers } from './peers.mjs';
import { collect, read_now, subscriptions } from './subscribers.mjs';
import { check, eventually, judge, skip, temporary_folder } from './verdict.mjs';

if (missing_programs().length > 0) skip(`there is no ${missing_programs().join(', no ')}`);

const readers = ['hondana', 'Prometheus'];
const scrapes_compared = 9;
const queue = 'match=' + encodeURIComponent('queue="印刷"');

const uri_of = (source, name, parameters = {}) => {
  const query = Object.entries(parameters).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `metrics://${source}/${name}${query.length > 0 ? '?' : ''}${query.join('&')}`;
};
const seconds = (milliseconds) => (milliseconds / 1000).toFixed(3);

/** Points by series, whatever the order of either. */
function table(series, labels_of, points_of) {
  const rows = series.map((one) => {
    const { __name__: _, ...labels } = labels_of(one);
    return [JSON.stringify(Object.entries(labels).sort()), points_of(one).map(([at, value]) => [Number(at), String(Number(value))])];
  });
  return Object.fromEntries(rows.sort());
}
const ours = (answer) => table(answer.series, (one) => one.labels, (one) => one.points);
const theirs = (answer) => table(answer.result, (one) => one.metric, (one) => one.values);

function count_points(of) {
  return Object.values(of).reduce((sum, points) => sum + points.length, 0);
}

/** Everything one client sees at rest. */
async function converse({ name, make }) {
  const peer = make();
  const complete = (uri, what, value, chosen) =>
    peer.client
      .complete({ ref: { type: 'ref/resource', uri }, argument: { name: what, value }, context: { arguments: chosen } })
      .then((answer) => answer.completion.values);
  const json = async (...where) => JSON.parse((await peer.read(uri_of(...where))).contents[0].text);
  let templates = [];

  await check(`${name}: lists metrics, summaries, targets and templates of both sources`, async () => {
    await peer.connect();
    const all = new Map((await peer.pages('resources/list', 'resources')).flat().map((one) => [one.uri, one]));
    for (const source of ['here', 'prom'])
      for (const one of ['', 'summary', 'targets', 'app_queue_depth', 'node_cpu_seconds_total', 'app_request_seconds'])
        assert.ok(all.has(uri_of(source, one)), `not listed: ${uri_of(source, one)}`);
    assert.ok(all.has('metrics://prom/alerts') && all.has('metrics://prom/rules') && !all.has('metrics://here/alerts'));
    assert.match(all.get('metrics://here/node_cpu_seconds_total').description, /^counter, seconds/);
    templates = (await peer.pages('resources/templates/list', 'resourceTemplates')).flat().map((one) => one.uriTemplate);
    assert.ok(templates.some((one) => one.startsWith('metrics://prom/query{?promql')));
    return `${all.size} entries`;
  });
  await check(`${name}: reads a gauge as JSON, CSV, OpenMetrics, SVG and PNG`, async () => {
    for (const source of ['here', 'prom']) {
      const whole = await json(source, 'app_queue_depth', { start: '-30s', step: '1s' });
      assert.equal(whole.kind, 'gauge');
      assert.equal(whole.help, 'Jobs that wait.');
      assert.deepEqual(whole.series.map((one) => one.labels.queue), ['印刷']);
      assert.ok(whole.series[0].points.every(([, value]) => value === 1), JSON.stringify(whole.series[0].points));
      const form = async (format) => (await peer.read(uri_of(source, 'app_queue_depth', { start: '-30s', step: '1s', format }))).contents[0];
      const csv = await form('csv');
      assert.match(csv.text, /^time,instance,job,queue,value\r\n2\d{3}-[^,]+Z,127\.0\.0\.1:\d+,app,印刷,1\r\n/);
      assert.equal(csv.mimeType, 'text/csv');
      const exposed = await form('openmetrics');
      assert.match(exposed.text, /# TYPE app_queue_depth gauge\n.*queue="印刷"} 1 \d+[^]*# EOF\n$/);
      const svg = await form('svg');
      assert.equal(svg.mimeType, 'image/svg+xml');
      assert.match(svg.text, /^(<\?xml[^>]*>\s*)?<svg[^>]+xmlns="http:\/\/www.w3.org\/2000\/svg"[^]*<\/svg>\s*$/);
      const png = await form('png');
      assert.equal(png.mimeType, 'image/png');
      const bytes = Buffer.from(png.blob, 'base64');
      assert.equal(bytes.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n');
      assert.ok(bytes.readUInt32BE(16) >= 600 && bytes.length > 2000, `${bytes.length} bytes`);
    }
  });
  await check(`${name}: completes names, labels, values and aggregations by what was chosen`, async () => {
    for (const source of ['here', 'prom']) {
      const template = templates.find((one) => one.startsWith(`metrics://${source}/{name}`));
      const chosen = { name: 'app_jobs_total' };
      assert.deepEqual((await complete(template, 'name', 'app_jobs')).slice(0, 1), ['app_jobs_total']);
      const labels = await complete(template, 'match', '', chosen);
      assert.deepEqual([...labels].sort(), ['instance=', 'job=', 'kind=']);
      assert.deepEqual((await complete(template, 'match', 'kind="印', chosen)).slice(0, 1), ['kind="印刷"']);
      const further = await complete(template, 'match', 'kind="印刷",', chosen);
      assert.deepEqual([...further].sort(), ['kind="印刷",instance=', 'kind="印刷",job=']);
      assert.equal((await complete(template, 'agg', '', chosen))[0], 'rate');
      assert.equal((await complete(template, 'agg', '', { name: 'app_request_seconds' }))[0], 'p50,p90,p99');
    }
  });
  await check(`${name}: reads targets, alerts, rules and summaries`, async () => {
    for (const source of ['here', 'prom']) {
      await eventually(async () => {
        const { targets } = await json(source, 'targets');
        const up = new Map(targets.map((one) => [one.job, one]));
        for (const job of ['app', 'node']) assert.ok(up.get(job)?.up, JSON.stringify(targets));
      });
      const whole = await json(source, 'summary');
      assert.ok(Array.isArray(whole.unusual), JSON.stringify(whole).slice(0, 500));
      const text = await read_now(peer, uri_of(source, 'summary', { format: 'text' }));
      assert.ok(text.length > 20, text);
    }
    await eventually(async () => {
      const { alerts } = await json('prom', 'alerts');
      assert.deepEqual(alerts.map((one) => [one.name, one.state, one.labels.severity]), [['Fires', 'firing', 'page']]);
    });
    const { rules } = await json('prom', 'rules');
    assert.deepEqual(rules.map((one) => one.name).sort(), ['Fires', 'job:up:sum']);
    await eventually(async () => assert.ok((await json('prom', 'summary')).unusual.some((one) => one.kind === 'alert')));
  });
  await check(`${name}: is told clearly what is wrong with a question`, async () => {
    for (const [uri, said] of [
      [uri_of('here', 'app_jobs_totl'), /^Resource not found.*app_jobs_totl/],
      [uri_of('here', 'app_queue_depth', { match: 'queue="a"} or vector(1) #' }), /match/],
      [uri_of('here', 'app_queue_depth', { start: '-400d', step: '1s' }), /step=/],
      [uri_of('here', 'query', { promql: 'up' }), /^Resource not found/],
      [uri_of('prom', 'query', { promql: 'sum(' }), /parse error/],
    ]) {
      const { message, data } = await peer.refused(peer.client.readResource({ uri }));
      assert.match(`${message} ${JSON.stringify(data)}`, said);
    }
  });
  await check(`${name}: ends in order`, async () => {
    assert.deepEqual(peer.errors, []);
    await peer.close();
  });
}

/**
 * The same instants, asked of hondana by a client and of Prometheus itself. On a busy machine a scrape may take longer than its
 * second. Then it is missing on one side, and later instants are compared.
 */
async function compare(peer, prometheus, exporter) {
  for (let first = 1; ; first += scrapes_compared) {
    await exporter.scrapes.until('enough of them', () => exporter.instants.length > first + scrapes_compared);
    await exporter.scraped_again('Prometheus');
    try {
      return await compare_from(first, peer, prometheus, exporter);
    } catch (error) {
      if (first > 6 * scrapes_compared) throw error;
    }
  }
}

async function compare_from(first, peer, prometheus, exporter) {
  const { instants } = exporter;
  const start = seconds(instants[first]);
  const end = seconds(instants[first + scrapes_compared - 3]);
  const range = { start, end, step: '1s' };
  const same = async (source, metric, agg, promql) => {
    const mine = ours(JSON.parse(await read_now(peer, uri_of(source, metric, { ...range, agg }))));
    const real = theirs(await prometheus.ask('/query_range', { ...range, query: promql }));
    assert.deepEqual(mine, real, `${source}: ${promql}`);
    assert.ok(count_points(mine) >= 3, `${source}: ${promql} has ${count_points(mine)} points`);
    return count_points(mine);
  };
  const app = 'job="app"';
  let points = 0;
  for (const source of ['here', 'prom']) {
    points += await same(source, 'app_jobs_total', 'rate[4s]', `rate(app_jobs_total{${app}}[4s])`);
    points += await same(source, 'app_jobs_total', 'sum by (job) (increase[5s])', `sum by (job) (increase(app_jobs_total{${app}}[5s]))`);
    points += await same(source, 'app_warmth_celsius', 'raw', `app_warmth_celsius{${app}}`);
    points += await same(source, 'app_warmth_celsius', 'max_over_time[3s]', `max_over_time(app_warmth_celsius{${app}}[3s])`);
    for (const q of [0.5, 0.9, 0.99]) {
      const wanted = `quantile(${q}) by (job)`;
      const real = `label_replace(histogram_quantile(${q}, sum by (le, job) (rate(app_request_seconds_bucket{${app}}[4s]))), "quantile", "${q}", "", "")`;
      points += await same(source, 'app_request_seconds', `${wanted} (rate[4s])`, real);
    }
  }
  points += await same('prom', 'node_cpu_seconds_total', 'rate[5s]', 'rate(node_cpu_seconds_total[5s])');
  points += await same('prom', 'node_memory_MemAvailable_bytes', 'raw', 'node_memory_MemAvailable_bytes');
  points += await same('prom', 'node_filesystem_avail_bytes', 'raw', 'node_filesystem_avail_bytes');
  const promql = 'sum by (mode) (irate(node_cpu_seconds_total[5s]))';
  const mine = ours(JSON.parse(await read_now(peer, uri_of('prom', 'query', { ...range, promql }))));
  assert.deepEqual(mine, theirs(await prometheus.ask('/query_range', { ...range, query: promql })));
  return `${points + count_points(mine)} points`;
}

/** All that listen while a gauge crosses a threshold up, down and up again. */
class crossing {
  constructor(exporter) {
    Object.assign(this, { exporter, listeners: [], sources: ['here', 'prom'] });
    this.above = this.sources.map((one) => `metrics://${one}/app_queue_depth?${queue}&above=5`);
    this.lasting = this.sources.map((one) => `metrics://${one}/app_queue_depth?${queue}&above=5&for=2s`);
    this.plain = this.sources.map((one) => `metrics://${one}/app_queue_depth`);
  }

  async subscribe(peers) {
    for (const { name, make } of peers) {
      const peer = make();
      const updated = collect(peer, 'notifications/resources/updated');
      await peer.connect();
      const subscribed = new subscriptions(peer);
      await subscribed.add(...this.above, ...this.lasting, ...this.plain);
      this.listeners.push({ name, peer, updated, subscribed, begin: this.exporter.scraped('hondana') });
    }
  }

  told(listener, uri) {
    return listener.updated.items.filter((one) => one.uri === uri).length;
  }

  /** Sets the gauge; everybody must have heard `times` of it in all, and no more when three more scrapes have been told of. */
  async turn(depth, times) {
    this.exporter.depth = depth;
    const conditions = [...this.above, ...this.lasting];
    for (const one of this.listeners)
      for (const uri of conditions)
        await one.updated.until(`${times} of ${uri} at ${one.name}`, () => this.told(one, uri) >= times);
    const before = new Map(this.listeners.map((one) => [one, this.plain.map((uri) => this.told(one, uri))]));
    for (const one of this.listeners) {
      const goes_on = () => this.plain.every((uri, i) => this.told(one, uri) >= before.get(one)[i] + 3);
      await one.updated.until(`three more of the plain ones at ${one.name}`, goes_on);
    }
    for (const one of this.listeners)
      for (const uri of conditions) assert.equal(this.told(one, uri), times, `${one.name}: ${uri}`);
    const [uri] = this.lasting;
    const { holds, series } = JSON.parse(await read_now(this.listeners[0].peer, uri));
    assert.equal(holds, depth > 5, JSON.stringify(series));
    return `${this.listeners.length} clients of ${conditions.length} conditions`;
  }

  /** At most one for each scrape, counted at the exporter. */
  at_most_once_a_scrape() {
    for (const one of this.listeners) {
      const scrapes = this.exporter.scraped('hondana') - one.begin + 1;
      assert.ok(this.told(one, this.plain[0]) <= scrapes, `${one.name}: ${this.told(one, this.plain[0])} for ${scrapes} scrapes`);
    }
  }

  async end() {
    for (const { peer, subscribed } of this.listeners) {
      await subscribed.end();
      await peer.close();
    }
  }
}

/** A metric that has never been there comes. */
async function wait_for_a_late_one(peers, exporter) {
  const uri = uri_of('here', 'app_late', { absent: true });
  const listeners = [];
  for (const { name, make } of peers) {
    const peer = make();
    const updated = collect(peer, 'notifications/resources/updated');
    await peer.connect();
    const subscribed = new subscriptions(peer);
    assert.equal(JSON.parse(await read_now(peer, uri)).holds, true, name);
    await subscribed.add(uri, uri_of('here', 'app_queue_depth'));
    listeners.push({ name, peer, updated, subscribed });
  }
  exporter.is_late = true;
  for (const { name, peer, updated, subscribed } of listeners) {
    await updated.until(`that it is there, at ${name}`, (items) => items.some((one) => one.uri === uri));
    const seen = updated.items.length;
    await updated.until('more of what goes on', (items) => items.length >= seen + 2);
    assert.equal(updated.items.filter((one) => one.uri === uri).length, 1, name);
    assert.equal(JSON.parse(await read_now(peer, uri)).holds, false, name);
    await subscribed.end();
    await peer.close();
  }
}

/** Real exporters that go away: told once, and everything else goes on. */
async function lose_node_exporter(peers, node) {
  const uri = uri_of('here', 'up', { match: 'job="node"', below: 1 });
  const listeners = [];
  for (const { make } of peers) {
    const peer = make();
    const updated = collect(peer, 'notifications/resources/updated');
    await peer.connect();
    const subscribed = new subscriptions(peer);
    await subscribed.add(uri, uri_of('here', 'app_queue_depth'));
    listeners.push({ peer, updated, subscribed });
  }
  await node.stop();
  for (const { peer, updated, subscribed } of listeners) {
    await updated.until('that the target is down', (items) => items.some((one) => one.uri === uri));
    const seen = updated.items.length;
    await updated.until('more of what goes on', (items) => items.length >= seen + 2);
    assert.equal(updated.items.filter((one) => one.uri === uri).length, 1);
    const { targets } = JSON.parse(await read_now(peer, uri_of('here', 'targets')));
    const down = targets.find((one) => one.job === 'node');
    assert.equal(down.up, false);
    assert.match(down.lastError, /refused|connect/i);
    await subscribed.end();
    await peer.close();
  }
}

await judge(async () => {
  const folder = temporary_folder();
  const exporter = await new made_exporter(...readers).start();
  const node = await start_node_exporter();
  let hondana;
  const relay = await start_relay(() => hondana.url);
  const prometheus = await start_prometheus(folder, { node: node.at, app: new URL(exporter.url).host, hondana: relay.at });
  const config = join(folder, 'hondana.toml');
  const scrape = (job, url) => `[[source.scrape]]\njob = "${job}"\nurl = "${url}"\n`;
  writeFileSync(
    config,
    `[[source]]\ntype = "metrics"\nname = "here"\ninterval = "1s"\nhost = true\nstore = "${join(folder, 'kept/here.db')}"\n` +
      `${scrape('node', node.url)}${scrape('app', exporter.url)}` +
      `[[source]]\ntype = "metrics"\nname = "prom"\nprometheus = "${prometheus.url}"\n`,
  );
  hondana = await start_server([program, 'serve', '--port', '0', '--config', config]);
  const peers = all_peers([], () => hondana.url).filter(({ name }) => !name.endsWith('over stdio'));
  const each_era = [peers.find(({ name }) => name === 'SDK 1.32 over HTTP'), peers.at(-1)];
  await check('both scrape the same instants of an exporter', async () => {
    await exporter.scrapes.until('enough of them', () => exporter.instants.length > scrapes_compared + 1);
    await exporter.scraped_again('Prometheus');
  });
  await check('counters, gauges and quantiles are those of Prometheus at the same instants', async () => {
    const peer = peers.at(-1).make();
    await peer.connect();
    const note = await compare(peer, prometheus, exporter);
    await peer.close();
    return note;
  });
  for (const one of peers) await converse(one);

  const crossed = new crossing(exporter);
  await check('clients of both eras subscribe to thresholds and to a metric itself', () => crossed.subscribe(peers));
  await check('a threshold that is crossed is told once to each, and not again while it stays so', () => crossed.turn(9, 1));
  await check('that it ceased is told once, too', () => crossed.turn(2, 2));
  await check('the next crossing is told once again', () => crossed.turn(7, 3));
  await check('a metric itself is told at most once for each scrape', () => crossed.at_most_once_a_scrape());
  await check('listeners end in order', () => crossed.end());

  await check('a metric that was never there is absent, and that it has come is told once', () => wait_for_a_late_one(each_era, exporter));
  await check('Prometheus scrapes hondana, as OpenMetrics, and its series arrive', async () => {
    await relay.passed.until('a scrape', (items) => items.some((one) => one.status === 200));
    const last = relay.passed.items.filter((one) => one.status === 200).at(-1);
    assert.match(last.accept, /application\/openmetrics-text/);
    assert.match(last.type, /^application\/openmetrics-text; ?version=1\.0\.0/);
    await eventually(async () => {
      const up = await prometheus.ask('/query', { query: 'up{job="hondana"}' });
      assert.deepEqual(up.result.map((one) => one.value[1]), ['1']);
      const reads = await prometheus.ask('/query', { query: 'sum(hondana_requests_total{job="hondana",method="resources/read"}) by (protocol)' });
      assert.deepEqual(reads.result.map((one) => one.metric.protocol).sort(), ['legacy', 'modern']);
    });
    const { length } = await prometheus.ask('/series', { 'match[]': '{job="hondana"}' });
    assert.ok(length > 100, `${length} series`);
    return `${length} series`;
  });
  await check('promtool finds nothing wrong with /metrics', async () => {
    const text = await (await fetch(new URL('/metrics', hondana.url))).text();
    execFileSync(programs.promtool, ['check', 'metrics'], { input: text, stdio: ['pipe', 'pipe', 'pipe'] });
    return `${text.split('\n').length} lines`;
  });
  await check('an exporter that goes away is told once, and the others go on', () => lose_node_exporter(each_era, node));
  await check('a Prometheus that is gone is an error that says so, and the other source goes on', async () => {
    await prometheus.stop();
    for (const { name, make } of each_era) {
      const peer = make();
      await peer.connect();
      for (const one of ['app_queue_depth', 'targets', 'query?promql=up']) {
        const { message } = await peer.refused(peer.client.readResource({ uri: uri_of('prom', one) }));
        assert.match(message, new RegExp(prometheus.at), name);
      }
      const { series } = JSON.parse(await read_now(peer, uri_of('here', 'app_queue_depth', { start: '-10m', step: '1s' })));
      assert.equal(series[0].points.at(-1)[1], 7);
      const all = (await peer.pages('resources/list', 'resources')).flat().map((one) => one.uri);
      assert.ok(all.includes('metrics://here/app_queue_depth') && all.includes('metrics://prom/summary'));
      await peer.close();
    }
    const report = await (await fetch(new URL('/healthz', hondana.url))).json();
    assert.match(JSON.stringify(report), /metrics prom/);
  });
  await check('hondana ends with 0 on SIGTERM', () => hondana.stop());
});
