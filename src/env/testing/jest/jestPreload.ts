import { languageLock } from '../languageLock.js';
import { channelVariable } from '../nodePreload.js';
import { oneTimeTag } from '../oneTimeTag.js';
import { jestRecorder } from './jestRecorder.js';

/**
 * A module that each process of Jest's imports before anything else, given to Node as a `data:` URL so that no file of ours
 * has to lie where the tests run. It runs on Node 20 and newer, beside Jest 29 and 30.
 * - It takes the secrets of a one-time tag off the channel and writes JSON lines there: `{started}` where a test file
 *   begins, and `{file, lines, tag}` where it has come to its end. What has no right tag does not count.
 * - It puts `jestRecorder` around jest-circus, which Jest loads anew for each test file, once for a file and never twice at a time.
 * - It closes the inspector, by which code under test could read this module's variables, and locks node:assert.
 */
const source = String.raw`
import assert from 'node:assert';
import fs from 'node:fs';
import inspector from 'node:inspector';
import Module, { syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';
import { types } from 'node:util';
import vm from 'node:vm';
import { isMainThread } from 'node:worker_threads';
${languageLock}
${oneTimeTag}
${jestRecorder}
const { parse, stringify } = JSON;
const { readSync, writeSync } = fs;
const bytesOf = Buffer.from;

/** Writes to the launcher; undefined where it did not start this process. */
function openChannel() {
  const channel = Number(process.env.${channelVariable});
  delete process.env.${channelVariable};
  if (!channel || !isMainThread) return undefined;
  let text = '';
  const bytes = Buffer.alloc(65536);
  while (!text.endsWith('\n')) text += bytes.toString('utf8', 0, readSync(channel, bytes));
  bytes.fill(0);
  const [r, ...rest] = parse(text).map((hex) => BigInt('0x' + hex));
  let used = 0;
  const write = (line) => {
    const written = bytesOf(line + '\n');
    for (let at = 0; at < written.length; ) {
      try {
        at += writeSync(channel, written, at);
      } catch (error) {
        if (error?.code !== 'EAGAIN') throw error;
      }
    }
  };
  return {
    started: (file) => write('{"started":' + stringify(file) + '}'),
    finished: (file, lines) => {
      if (used >= rest.length) return;
      const tag = tagOf(stringify(file) + lines, [r, rest[used]]);
      write('{"file":' + stringify(file) + ',"secret":' + used + ',"lines":' + stringify(lines) + ',"tag":"' + tag + '"}');
      used += 1;
    },
  };
}

/** jest-circus as Jest asks for it: by the absolute path of its entry, which differs between versions. */
const isCircus = (request) =>
  typeof request === 'string' && /[\\/]jest-circus[\\/](build[\\/])?runner\.js$/.test(request);

function recordCircus(channel) {
  const { _load } = Module;
  let isActive = false;
  const recorded = (runFile) => async (globalConfig, config, environment, runtime, testPath, ...rest) => {
    if (isActive) throw new Error('Only one test file can run at a time where results are recorded.');
    isActive = true;
    channel.started(testPath);
    const recorder = recordFile(environment, runtime, testPath, config.displayName?.name);
    try {
      const result = await runFile(globalConfig, config, environment, runtime, testPath, ...rest);
      recorder.end(result);
      return result;
    } catch (error) {
      recorder.fail(error);
      throw error;
    } finally {
      channel.finished(testPath, recorder.lines());
      isActive = false;
    }
  };
  const wrapped = new Map();
  Module._load = function (request) {
    const loaded = applyFunction(_load, this, arguments);
    if (!isCircus(request)) return loaded;
    if (!wrapped.has(loaded)) wrapped.set(loaded, { __esModule: true, default: recorded(loaded.default ?? loaded) });
    return wrapped.get(loaded);
  };
}

const channel = openChannel();
if (channel) {
  closeInspector();
  recordCircus(channel);
}
lockAssertions();
syncBuiltinESMExports();
//# sourceURL=whetstone:results
`;

export const jestPreloadUrl = `data:text/javascript;base64,${Buffer.from(source).toString('base64')}`;
