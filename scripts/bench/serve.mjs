/**
 * Plays episodes against a running `whetstone serve --openenv`: node scripts/bench/serve.mjs URL SESSIONS SECONDS [TOKEN]
 *
 * Each session plays one episode after the other: a command that changes a file, the tests, submit. So each step meets the
 * sandbox, and each episode is graded by its tests. Prints one line of JSON; the seconds are those that the client waits.
 */
import { performance } from 'node:perf_hooks';
import { WebSocket } from 'ws';

const [url, sessions, seconds, token] = process.argv.slice(2);
const headers = token ? { authorization: `Bearer ${token}` } : {};
const deadline = Date.now() + 1000 * Number(seconds);
const waits = { reset: [], run_command: [], run_tests: [], submit: [] };
let episodes = 0;
let errors = 0;

async function memory() {
  const text = await (await globalThis.fetch(`${url}/metrics`, { headers })).text();
  return Math.round(Number(/^whetstone_resident_memory_bytes (\d+)/m.exec(text)[1]) / 1e6);
}

async function session() {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const ask = async (name, message) => {
    const started = performance.now();
    socket.send(JSON.stringify(message));
    const frame = JSON.parse(await new Promise((resolve) => socket.once('message', (data) => resolve(String(data)))));
    waits[name].push((performance.now() - started) / 1000);
    if (frame.type === 'error') errors += 1;
    return frame;
  };
  const call = (name, values) =>
    ask(name, { type: 'step', data: { tool_calls: [{ name, arguments: values }], content: '' } });
  while (Date.now() < deadline) {
    await ask('reset', { type: 'reset', data: {} });
    await call('run_command', { command: 'echo >> README.md' });
    await call('run_tests', {});
    const { data } = await call('submit', {});
    if (data.done) episodes += 1;
  }
  socket.close();
}

const before = await memory();
const started = performance.now();
await Promise.all(Array.from({ length: Number(sessions) }, session));
const elapsed = (performance.now() - started) / 1000;
const quantile = (values, share) =>
  Number(values.sort((a, b) => a - b)[Math.floor(share * (values.length - 1))].toFixed(3));
console.log(
  JSON.stringify({
    sessions: Number(sessions),
    seconds: Number(elapsed.toFixed(1)),
    episodes,
    errors,
    episodesPerMinute: Number(((60 * episodes) / elapsed).toFixed(1)),
    medianSeconds: Object.fromEntries(Object.entries(waits).map(([name, values]) => [name, quantile(values, 0.5)])),
    slowestTenthSeconds: Object.fromEntries(
      Object.entries(waits).map(([name, values]) => [name, quantile(values, 0.9)]),
    ),
    memoryMB: [before, await memory()],
  }),
);
