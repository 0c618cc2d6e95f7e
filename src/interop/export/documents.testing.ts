/** For tests only: the fixture in every format. What is stored in `golden/` is these, once the neighbours have taken them. */
import { toolSchemas } from '../../env/tools/tools.js';
import { conversationsOf } from '../conversation.js';
import { branchedTrajectory, injectedTask, learned } from '../fixture.testing.js';
import { toAtif } from './atif.js';
import { harborFiles } from './harbor.js';
import { toOpenAi } from './openai.js';
import { toPrediction, toSweBench } from './sweBench.js';
import { toSweSmith } from './sweSmith.js';
import { toTrl, toTrlPrompt } from './trl.js';
import { toVerifiersTask, toVerifiersTrace } from './verifiers.js';

const commits = { base: 'b'.repeat(40), start: 'c'.repeat(40) };
const conversations = conversationsOf(branchedTrajectory).map(({ messages }) => messages);

export const fixtureDocuments: Readonly<Record<string, unknown>> = {
  swebench: { instance: toSweBench(injectedTask, commits.start), prediction: toPrediction(branchedTrajectory, 'tiny') },
  swesmith: toSweSmith(injectedTask, commits.base, 'whetstone/raums:1f2e3d4c5b6a'),
  harbor: harborFiles(injectedTask, commits, ['package-lock.json', 'requirements.txt', 'sum.js'], {
    agentSeconds: 1200,
    testSeconds: 60,
  }),
  verifiers: {
    task: toVerifiersTask(injectedTask, 0, toolSchemas),
    trace: toVerifiersTrace(branchedTrajectory, {
      tools: toolSchemas,
      task: injectedTask,
      learned,
      model: 'tiny',
      startedAt: 1_790_000_000,
      whetstoneVersion: '0.1.0',
    }),
  },
  trl: {
    prompt: toTrlPrompt(injectedTask, toolSchemas),
    trajectories: conversations.map((messages) => toTrl(messages, toolSchemas)),
  },
  openai: conversations.map((messages) => toOpenAi(messages, toolSchemas)),
  atif: toAtif(branchedTrajectory, { runId: 'run-1', model: 'tiny', whetstoneVersion: '0.1.0', tools: toolSchemas }),
};
