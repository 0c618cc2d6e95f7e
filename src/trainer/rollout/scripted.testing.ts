import type { EpisodeStep } from '../../env/episodeTypes.js';
import { unifiedDiff } from '../../env/tasks/unifiedDiff.js';
import type { Grade } from '../../trajectory/grade.js';
import type { AssistantMessage, ToolMessage } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { GenerationRequest, Generator } from '../model/policy.js';
import type { TextCodec } from '../text/textCodec.js';
import type { Arena, ArenaEpisode, SamplingOptions } from './arena.js';
import type { Opening } from './dialogue.js';

/** Settings of an episode that meets no limit. */
export const plainOptions: SamplingOptions = {
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: 0,
  stopStrings: [],
  contextThreshold: 'share',
  contextSummary: false,
  contextShare: 0.75,
  keptObservations: 0,
  commandSlots: 4,
  maxTokensPerTurn: 200,
  episodeSeconds: 60,
};

/** Where a player begins who looks at the tree in `root`. */
export const openingIn = (root: string, task: Task, seed = 1): Opening => ({
  plan: { id: 'eval/task/0', kind: 'evaluation', step: 0, task, sample: 0, seed },
  prompt: [
    { role: 'system', content: 'system' },
    { role: 'user', content: 'user' },
  ],
  tools: [],
  root,
  options: plainOptions,
});

/** Says the turns one after the other; what it was asked is kept. */
export function scriptedPlayer(codec: TextCodec, turns: readonly Int32Array[], maxContext = 4096) {
  const requests: GenerationRequest[] = [];
  const released: string[] = [];
  const generator: Generator = {
    maxContext,
    generate(request) {
      const tokenIds = turns[requests.length].slice(0, request.maxNewTokens);
      requests.push(request);
      return Promise.resolve({
        tokenIds,
        logprobs: new Float32Array(tokenIds.length).fill(-0.5),
        entropies: new Float32Array(tokenIds.length).fill(0.5),
        finishReason: codec.stopTokenIds.includes(tokenIds.at(-1)!) ? 'stop' : 'length',
      });
    },
    release: (id) => released.push(id),
    invalidate: () => undefined,
    dispose: () => Promise.resolve(),
  };
  return { player: { generator, codec, policyStep: 3 }, requests, released };
}

export const answer = (id: string, content: string): ToolMessage => ({
  role: 'tool',
  toolCallId: id,
  name: 'run',
  content,
});

const solved: Grade = { reward: 1, resolved: true, components: {}, tests: [], files: [] };

/** An episode that answers by the function; every play of it is counted. */
export function scriptedArena(
  answerTo: (message: AssistantMessage, turn: number, signal: AbortSignal) => Promise<EpisodeStep>,
  gradeOf: (task: Task) => Promise<Grade> = () => Promise.resolve(solved),
) {
  const counts = { started: 0, disposed: 0, graded: 0 };
  const arena: Arena = {
    sandbox: 'bubblewrap',
    startEpisode(task) {
      counts.started++;
      let turns = 0;
      const statistics = () => ({
        turns,
        thoughtTurns: 0,
        toolCalls: {},
        malformedCalls: 0,
        unknownTools: 0,
        invalidArguments: 0,
        validCalls: turns,
        seconds: 0,
      });
      const episode: ArenaEpisode = {
        root: '/nowhere',
        prompt: [
          { role: 'system', content: 'You fix bugs.' },
          { role: 'user', content: 'add is wrong' },
        ],
        tools: [],
        step: (message, signal) => answerTo(message, ++turns, signal!),
        statistics,
        finish: async () => {
          const grade = await gradeOf(task);
          counts.graded++;
          return { grade, patch: unifiedDiff([{ path: 'a.js', before: 'a\n', after: 'b\n' }]), counters: statistics() };
        },
        dispose: () => Promise.resolve(void counts.disposed++),
      };
      return Promise.resolve(episode);
    },
  };
  return { arena, counts };
}
