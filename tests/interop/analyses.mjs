// Real clients of both eras put a whole analysis of four models and three rounds in Japanese by the tool, and read it back equal, by
// resources, by tools and on the command line; they hear of rounds as they arrive, and of the file that it rests on.
//
// Usage: node.sh analyses.mjs HONDANA
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { program, serve } from './hondana.mjs';
import { all_peers } from './peers.mjs';
import { uri_of } from './repository.mjs';
import { collect, read_now, subscriptions } from './subscribers.mjs';
import { check, judge, temporary_folder } from './verdict.mjs';

const files = temporary_folder();
const kept = temporary_folder();
const design = join(files, 'design.md');
const configuration = join(kept, 'hondana.toml');
const providers = ['claude', 'gemini', 'gpt', 'qwen'];
const models = providers.map((name) => `${name}-大`);
const names = ['analysis_claim', 'analysis_get', 'analysis_invalidate', 'analysis_put'];
const ajv = new Ajv2020({ strict: false });
addFormats(ajv);

function configure() {
  mkdirSync(join(kept, 'store'));
  writeFileSync(design, '# 設計\n\n一つ目。\n');
  writeFileSync(
    configuration,
    `tools = false\n\n[[source]]\ntype = "files"\npaths = ["${files}"]\n\n[[source]]\ntype = "analyses"\nstore = "store/analyses.db"\n`,
  );
}

const opinion = (seed) =>
  `## 見解 ${seed}\n\n${'整合性は版番号で確かめ、古い版を最新として返すことはありません。しかし、通知が遅れた場合の扱いには注意が必要です。\n'.repeat(20)}🙂 "引用" \\ ${seed}`;

const vote = (provider, seed) => ({
  provider,
  model: `${provider}-大`,
  content: opinion(seed),
  confidence: 0.9 + (seed % 5) / 100,
  reasoning: `根拠 ${seed}`,
  cost: 0.0125,
  tokens: 1800 + seed,
  agreement: 0.93,
});

const round_of = (number) => ({
  number,
  votes: providers.map((one, i) => vote(one, number * 10 + i)),
  consensus: { content: opinion(number), confidence: 0.8 + number * 0.05, reasoning: '四者の一致' },
  at: '2026-11-26T03:04:05.678Z',
  milliseconds: 9000,
});

function whole_of(prompt, context) {
  const rounds = [1, 2, 3].map(round_of);
  return {
    prompt,
    options: { temperature: 0.2, language: 'ja' },
    models,
    context,
    task: 'critical',
    consensus: rounds[2].consensus,
    votes: rounds[2].votes,
    rounds,
    flow: rounds.flatMap(({ number }) =>
      providers.map((provider) => ({ round: number, provider, action: 'answered', milliseconds: 2100, note: `第${number}回` })),
    ),
    errors: [{ provider: 'qwen', round: 1, message: '一度目は時間切れ' }],
    totals: { cost: 0.15, tokens: 21600, milliseconds: 27000 },
    session: '設計会議',
    tags: ['review', '設計'],
  };
}

const as_written = ({ id, status, created, expires, ...rest }) => rest;

async function converse({ name, make }) {
  const peer = make();
  const updates = collect(peer, 'notifications/resources/updated');
  const lists = collect(peer, 'notifications/resources/list_changed');
  const prompt = `${name}: この設計をどう思いますか。`;
  const question = { prompt, options: { temperature: 0.2, language: 'ja' }, models, context: [{ uri: `${uri_of(files)}/design.md` }] };
  let tools = [];
  const call = async (tool, args) => {
    const answer = await peer.client.callTool({ name: tool, arguments: args });
    assert.ok(!answer.isError, JSON.stringify(answer.content).slice(0, 1000));
    const { outputSchema } = tools.find((one) => one.name === tool);
    const fits = ajv.compile(outputSchema);
    assert.ok(fits(answer.structuredContent), JSON.stringify(fits.errors));
    return answer.structuredContent;
  };
  const watching = new subscriptions(peer);
  let put;
  let whole;

  await check(`${name}: is offered four tools with schemas`, async () => {
    await peer.connect();
    ({ tools } = await peer.client.listTools());
    assert.deepEqual(tools.map((tool) => tool.name), names);
    for (const tool of tools) ajv.compile(tool.inputSchema);
  });

  await check(`${name}: puts an analysis round by round, and hears of each`, async () => {
    const claimed = await call('analysis_claim', { ...question, task: 'critical', session: '設計会議' });
    assert.equal(claimed.outcome, 'claimed');
    assert.equal((await call('analysis_claim', question)).outcome, 'computing', 'one computes');
    whole = whole_of(prompt, claimed.context);
    await watching.add(claimed.uri);
    const rounds = [];
    for (const one of whole.rounds) {
      rounds.push(one);
      const { consensus, votes, ...rest } = whole;
      await call('analysis_put', { ticket: claimed.ticket, step: 'partial', analysis: { ...rest, rounds } });
      await updates.until(`round ${one.number}`, (all) => all.some(({ uri }) => uri === claimed.uri));
      updates.take();
      const so_far = JSON.parse(await read_now(peer, `${claimed.uri}?format=json`));
      assert.equal(so_far.status, 'computing');
      assert.equal(so_far.rounds.length, one.number);
    }
    put = await call('analysis_put', { ticket: claimed.ticket, analysis: whole });
    assert.equal(put.status, 'complete', JSON.stringify(put));
    await updates.until('the whole', (all) => all.some(({ uri }) => uri === claimed.uri));
    return `${Buffer.byteLength(JSON.stringify(whole))} bytes`;
  });

  await check(`${name}: gets it back equal by its URI, its prompt, the tools and the command line`, async () => {
    assert.deepEqual(as_written(JSON.parse(await read_now(peer, `${put.uri}?format=json`))), whole);
    assert.deepEqual(as_written(JSON.parse(await read_now(peer, `${put.byPrompt}?format=json`))), whole);
    const got = await call('analysis_get', question);
    assert.equal(got.outcome, 'fresh');
    assert.deepEqual(as_written(got.analysis), whole);
    assert.equal((await call('analysis_claim', question)).outcome, 'fresh');
    const printed = execFileSync(program, ['analysis', 'get', put.id, '--json', '--config', configuration], { encoding: 'utf8' });
    assert.deepEqual(as_written(JSON.parse(printed)), whole);
    assert.deepEqual(JSON.parse(await read_now(peer, `${put.uri}/votes/gpt?format=json`)), whole.votes[2]);
    assert.deepEqual(JSON.parse(await read_now(peer, `${put.uri}/flow?format=json`)).rounds, whole.rounds);
    assert.match(await read_now(peer, put.uri), /## Consensus/);
    assert.match(await read_now(peer, 'wallbounce://statistics'), /\| critical \| \d/);
  });

  await check(`${name}: finds it listed first, with a priority, and completes ids, providers and sessions`, async () => {
    const listed = (await peer.listed()).filter(({ uri }) => uri.startsWith('wallbounce://analyses/'));
    assert.equal(listed[0].uri, put.uri, 'the newest first');
    assert.ok(listed[0].annotations.priority > 0.9, JSON.stringify(listed[0].annotations));
    const vote_template = 'wallbounce://analyses/{id}/votes/{provider}{?format}';
    assert.deepEqual((await peer.complete('wallbounce://analyses/{id}{?format}', 'id', put.id.slice(0, 20))).values, [put.id]);
    assert.deepEqual((await peer.complete(vote_template, 'provider', '')).values, providers);
    const index = 'wallbounce://analyses{?session,task,tag,after,limit,format}';
    assert.deepEqual((await peer.complete(index, 'session', '設')).values, ['設計会議']);
  });

  await check(`${name}: misses it once the file has changed, and hears of it`, async () => {
    updates.take();
    lists.take();
    writeFileSync(design, `# 設計\n\n${name} が変えた。\n`);
    assert.equal((await call('analysis_get', question)).outcome, 'missing');
    await updates.until('that it has gone', (all) => all.some(({ uri }) => uri === put.uri));
    const answer = await peer.client.callTool({ name: 'analysis_get', arguments: { uri: put.uri } });
    assert.ok(answer.isError);
    assert.match(answer.content[0].text, /Analysis not found/);
    await peer.refused(read_now(peer, put.byPrompt));
  });

  await check(`${name}: is told what is wrong with what it puts`, async () => {
    const bad = { prompt, consensus: { content: 'x', confidence: 7 } };
    const said = await peer.client.callTool({ name: 'analysis_put', arguments: { analysis: bad } }).then(
      (answer) => (answer.isError ? answer.content[0].text : 'it was taken'),
      (error) => error.message,
    );
    assert.match(said, /confidence/);
    await watching.end();
    await peer.close();
    assert.deepEqual(peer.errors, []);
  });
}

await judge(async () => {
  configure();
  const server = await serve(['--config', configuration]);
  for (const one of all_peers(['stdio', '--config', configuration], () => server.url)) await converse(one);
  await check('hondana serve ends with 0 on SIGTERM', () => server.stop());
});
